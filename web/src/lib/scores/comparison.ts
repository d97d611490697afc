// The differences between two states of a score, page by page, as they are shown.
import type { Drawn } from './scoreMarks.svelte';
import type { Comparison, Page, Score } from './scoreCalls';

type MarkChange = Comparison['marks'][number];
export type Change = MarkChange['change'];
export type ChangedPage = {
  page: Page;
  /** What it was, if it shows another picture now. */
  before: Page | undefined;
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

/** The pages whose marks or pictures differ, in the order of the score; those that only the older state has come last. */
export function changedPages(
  { marks, pages }: Pick<Comparison, 'marks' | 'pages'>,
  after: Pick<Score, 'pages'>,
  before: Pick<Score, 'pages'>,
): ChangedPage[] {
  const all = [
    ...after.pages,
    ...before.pages.filter(({ page_id }) => !after.pages.some((page) => page.page_id === page_id)),
  ];
  const replaced = pages.filter(({ change }) => change === 'replaced').map(({ page_id }) => page_id);
  return all.flatMap((page, at) => {
    const own = marks.filter(({ page_id }) => page_id === page.page_id);
    const older = replaced.includes(page.page_id)
      ? before.pages.find(({ page_id }) => page_id === page.page_id)
      : undefined;
    if (!own.length && !older) return [];
    return [{ page, before: older, number: at + 1, marks: own, people: peopleOf(own) }];
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
