// Compares a count with an earlier one: today with yesterday at the same time of day, a range with the one before it.

export type Comparison = { outcome: 'more' | 'fewer' | 'same'; by: number };

export function compare(now: number, before: number): Comparison {
  const difference = now - before;
  if (difference === 0) return { outcome: 'same', by: 0 };
  return { outcome: difference > 0 ? 'more' : 'fewer', by: Math.abs(difference) };
}

/** By how many percent; undefined where there was nothing before. */
export function percentChange(now: number, before: number): Comparison | undefined {
  if (!before) return undefined;
  const { outcome } = compare(now, before);
  return { outcome, by: Math.round((Math.abs(now - before) / before) * 100) };
}
