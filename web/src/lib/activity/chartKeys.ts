// How arrow keys move through a chart.

type Steps = Record<string, number>;

/** Bars stand in one row. */
export const THROUGH_BARS: Steps = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowDown: -1,
  ArrowUp: 1,
  PageDown: -7,
  PageUp: 7,
};

/** A calendar has a week in each column. */
export const THROUGH_WEEKS: Steps = {
  ArrowUp: -1,
  ArrowDown: 1,
  ArrowLeft: -7,
  ArrowRight: 7,
  PageUp: -28,
  PageDown: 28,
};

/** The index that a key leads to from `at`, up to `last`; undefined if the key means nothing here. */
export function stepped(key: string, at: number, last: number, steps: Steps): number | undefined {
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  const step = steps[key];
  if (step === undefined) return undefined;
  return Math.min(last, Math.max(0, at + step));
}
