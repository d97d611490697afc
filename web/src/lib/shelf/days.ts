// How many days something has left, counted so that the last one is the first.

const DAY_MS = 86_400_000;

export function daysUntil(moment: string, now = Date.now()): number {
  return Math.max(0, Math.ceil((Date.parse(moment) - now) / DAY_MS));
}
