// How far the clock of a camera was off: an amount of days, hours, minutes and seconds, one way or the other.

export type Way = 'later' | 'earlier';
export type Amount = { days: string; hours: string; minutes: string; seconds: string };

const SECONDS = { days: 86_400, hours: 3600, minutes: 60, seconds: 1 };
const PARTS = ['days', 'hours', 'minutes', 'seconds'] as const;

/** Undefined if something is no whole number. */
export function secondsOf(way: Way, amount: Amount): number | undefined {
  let sum = 0;
  for (const part of PARTS) {
    if (!/^\d{0,5}$/.test(amount[part].trim())) return undefined;
    sum += Number(amount[part]) * SECONDS[part];
  }
  return way === 'later' ? sum : -sum;
}
