import { describe, expect, it } from 'vitest';
import { emptyHistory, recorded, redo, undo, type History, type Step } from './history';
import { BOX, GROUPS, isStamp, STAMPS, stampsOf } from './stamps';

/** What is on the page after a step. */
function after(page: readonly string[], { added, removed }: Step<string>): string[] {
  return [...page.filter((mark) => !removed.includes(mark)), ...added].sort();
}

describe('a history', () => {
  it('undoes and does again, step by step', () => {
    const steps: Step<string>[] = [
      { added: ['a'], removed: [] },
      { added: ['b', 'c'], removed: [] },
      { added: [], removed: ['a', 'c'] },
    ];
    let history: History<string> = emptyHistory();
    const pages: string[][] = [[]];
    for (const step of steps) {
      history = recorded(history, step);
      pages.push(after(pages.at(-1) ?? [], step));
    }
    let page = pages.at(-1) ?? [];
    for (const expected of pages.slice(0, -1).reverse()) {
      const [next, step] = undo(history) ?? [history, { added: [], removed: [] }];
      history = next;
      page = after(page, step);
      expect(page).toEqual(expected);
    }
    expect(undo(history)).toBeUndefined();
    for (const expected of pages.slice(1)) {
      const [next, step] = redo(history) ?? [history, { added: [], removed: [] }];
      history = next;
      page = after(page, step);
      expect(page).toEqual(expected);
    }
    expect(redo(history)).toBeUndefined();
  });

  it('forgets what was undone once something new is drawn', () => {
    const [undone] = undo(recorded(emptyHistory<string>(), { added: ['a'], removed: [] })) ?? [];
    expect(redo(recorded(undone ?? emptyHistory(), { added: ['b'], removed: [] }))).toBeUndefined();
  });
});

describe('a stamp', () => {
  it('is a drawing inside its box, in one group', () => {
    for (const [name, { lines }] of Object.entries(STAMPS)) {
      const numbers = lines.match(/-?\d+(\.\d+)?/g)?.map(Number) ?? [];
      expect(Math.min(...numbers), name).toBeGreaterThanOrEqual(0);
      expect(Math.max(...numbers), name).toBeLessThanOrEqual(BOX);
      expect(lines, name).not.toContain('undefined');
    }
    expect(GROUPS.flatMap(stampsOf).sort()).toEqual(Object.keys(STAMPS).sort());
  });

  it('is known by its name', () => {
    expect([isStamp('up-bow'), isStamp('toString'), isStamp('')]).toEqual([true, false, false]);
  });
});
