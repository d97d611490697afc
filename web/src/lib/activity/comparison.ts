// Compares today's count with yesterday's at the same time of day.

export type Comparison = { outcome: 'more' | 'fewer' | 'same'; by: number };

export function compare(now: number, before: number): Comparison {
  const difference = now - before;
  if (difference === 0) return { outcome: 'same', by: 0 };
  return { outcome: difference > 0 ? 'more' : 'fewer', by: Math.abs(difference) };
}
