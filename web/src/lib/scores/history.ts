// What can be undone and done again, as values: each step says what it added and what it took away.

export type Step<Item> = { added: readonly Item[]; removed: readonly Item[] };
export type History<Item> = { done: readonly Step<Item>[]; undone: readonly Step<Item>[] };

const LONGEST = 200;

export function emptyHistory<Item>(): History<Item> {
  return { done: [], undone: [] };
}

/** A new step; what was undone before cannot be done again. */
export function recorded<Item>({ done }: History<Item>, step: Step<Item>): History<Item> {
  return { done: [...done, step].slice(-LONGEST), undone: [] };
}

/** The history after undoing, and the step to carry out for it; undefined if there is nothing. */
export function undo<Item>({ done, undone }: History<Item>): [History<Item>, Step<Item>] | undefined {
  const last = done.at(-1);
  if (!last) return undefined;
  return [
    { done: done.slice(0, -1), undone: [...undone, last] },
    { added: last.removed, removed: last.added },
  ];
}

export function redo<Item>({ done, undone }: History<Item>): [History<Item>, Step<Item>] | undefined {
  const last = undone.at(-1);
  return last && [{ done: [...done, last], undone: undone.slice(0, -1) }, last];
}
