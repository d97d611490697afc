// Days and months as the server writes them (2025-10-02, 2025-10): names of days, which no zone can shift.

const DAY_MS = 86_400_000;

export type Span = { first: string; last: string };

export function dayPlus(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** How many days, the first and the last included. */
export function lengthOf({ first, last }: Span): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
}

export function daysOf(span: Span): string[] {
  return Array.from({ length: lengthOf(span) }, (_, index) => dayPlus(span.first, index));
}

/** 1 is Monday, 7 is Sunday. */
export function weekdayOf(day: string): number {
  return new Date(day).getUTCDay() || 7;
}

export function monthOf(day: string): string {
  return day.slice(0, 7);
}

export function monthPlus(month: string, months: number): string {
  const [year = 0, ofYear = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, ofYear - 1 + months)).toISOString().slice(0, 7);
}

/** Those in which the first and the last day lie, and all between. */
export function monthsOf({ first, last }: Span): string[] {
  const months: string[] = [];
  for (let month = monthOf(first); month <= monthOf(last); month = monthPlus(month, 1)) months.push(month);
  return months;
}

export function isDay(written: string | null): written is string {
  return (
    /^\d{4}-\d{2}-\d{2}$/.test(written ?? '') &&
    !Number.isNaN(Date.parse(`${written}`)) &&
    dayPlus(`${written}`, 0) === written
  );
}
