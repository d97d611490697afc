// Keyboard navigation in a list, or among tiles in columns.

/** The index that a key leads to; undefined if it is no such key. */
export function indexAfter(key: string, from: number, count: number, columns: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowDown: columns,
    ArrowUp: -columns,
    ArrowRight: columns > 1 ? 1 : 0,
    ArrowLeft: columns > 1 ? -1 : 0,
    Home: -from,
    End: count - 1 - from,
    PageDown: Math.min(columns * 8, count - 1 - from),
    PageUp: -Math.min(columns * 8, from),
  };
  const step = steps[key];
  if (step === undefined) return undefined;
  const to = from + step;
  if (to < 0) return from;
  // From the last but one line of tiles down to the last one, even where that is shorter.
  if (to >= count) return Math.floor(from / columns) < Math.floor((count - 1) / columns) ? count - 1 : from;
  return to;
}
