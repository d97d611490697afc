// Days until something expires, and the moment when a day ends.

const DAY_MS = 86_400_000;

/** Rounded up: on the last day it is 1. */
export function daysUntil(moment: string, now = Date.now()): number {
  return Math.max(0, Math.ceil((Date.parse(moment) - now) / DAY_MS));
}

/** The local date so many days later, as a date field writes it. */
export function dayAfter(days: number, now = Date.now()): string {
  const moment = new Date(now);
  moment.setDate(moment.getDate() + days);
  const [year, month, day] = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()];
  return [String(year).padStart(4, '0'), ...[month, day].map((part) => String(part).padStart(2, '0'))].join(
    '-',
  );
}

/** The moment so many days later. */
export function momentAfter(days: number, now = Date.now()): string {
  return new Date(now + days * DAY_MS).toISOString();
}

/** The last second of a day, local time. */
export function endOfDay(day: string): string {
  return new Date(`${day}T23:59:59`).toISOString();
}
