// The differences between two states of a score, page by page, as they are shown.
import type { Drawn } from './scoreMarks.svelte';
import type { Comparison, Page, Score } from './scoreCalls';

type MarkChange = Comparison['marks'][number];
export type Change = MarkChange['change'];
export type ChangedPage = {
  page: Page;
  number: number;
  marks: MarkChange[];
  /** How many marks of whom. */
  people: { name: string; count: number }[];
};

/** As in a proof: green is new, red is gone, amber is different. */
export const CHANGE_COLOURS: Record<Change, string> = {
  added: '#1c7c3c',
  removed: '#c22b21',
  changed: '#b86a00',
};

/** The pages on which marks differ, in the order of the score; pages that only the older state has come last. */
export function changedPages({ marks }: Comparison, after: Score, before: Score): ChangedPage[] {
  const all = [
    ...after.pages,
    ...before.pages.filter(({ page_id }) => !after.pages.some((page) => page.page_id === page_id)),
  ];
  return all.flatMap((page, at) => {
    const own = marks.filter(({ page_id }) => page_id === page.page_id);
    return own.length ? [{ page, number: at + 1, marks: own, people: peopleOf(own) }] : [];
  });
}

/** What is drawn on a page to show it: each mark once, in the colour of what happened to it. */
export function drawnChanges(marks: readonly MarkChange[]): Drawn[] {
  return marks.flatMap(({ change, before, after }, at) => {
    const mark = after ?? before;
    if (!mark) return [];
    return [
      { key: `c${at}`, mark: { ...mark, colour: CHANGE_COLOURS[change] }, layerId: undefined, id: undefined },
    ];
  });
}

function peopleOf(marks: readonly MarkChange[]): { name: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { author_name } of marks) counts.set(author_name, (counts.get(author_name) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count }));
}
