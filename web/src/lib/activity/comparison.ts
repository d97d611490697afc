// Today so far beside what yesterday had come to by the same time.

export type Comparison = { outcome: 'more' | 'fewer' | 'same'; by: number };

export function compare(now: number, before: number): Comparison {
  const difference = now - before;
  if (difference === 0) return { outcome: 'same', by: 0 };
  return { outcome: difference > 0 ? 'more' : 'fewer', by: Math.abs(difference) };
}
