// The last 53 weeks as a calendar: which day stands where, and how dark it is.
import { dayPlus, monthOf, weekdayOf, type Span } from './days';

export const WEEKS = 53;
export type Cell = { day: string; week: number; row: number };

/** From the first day of the week 52 weeks ago until today; `firstWeekday` is 1 for Monday, 7 for Sunday. */
export function calendarSpan(today: string, firstWeekday: number): Span {
  return { first: dayPlus(today, -rowOf(today, firstWeekday) - (WEEKS - 1) * 7), last: today };
}

export function cellAt(index: number, first: string): Cell {
  return { day: dayPlus(first, index), week: Math.floor(index / 7), row: index % 7 };
}

/** Above which week the name of a month stands: where its first day is, but not so near to the edge that it would be cut. */
export function monthMarks(cells: readonly Cell[]): { week: number; month: string }[] {
  return cells
    .filter(({ day, week }) => day.endsWith('-01') && week < WEEKS - 1)
    .map(({ day, week }) => ({ week, month: monthOf(day) }));
}

/** From which number on a day is of which darkness: as many days in each as can be, nothing being lighter than 1. */
export function stepsOf(numbers: readonly number[]): number[] {
  const some = numbers.filter((number) => number > 0).sort((one, other) => one - other);
  if (!some.length) return [];
  const quarters = [1, 2, 3].map((part) => (some[Math.ceil((some.length * part) / 4) - 1] ?? 0) + 1);
  const most = some.at(-1) ?? 0;
  return [...new Set([1, ...quarters])].filter((step) => step <= most);
}

/** 0 for nothing at all. */
export function levelOf(number: number, steps: readonly number[]): number {
  return steps.filter((step) => step <= number).length;
}

/** The first day of the week where people speak this language. */
export function firstWeekdayIn(language: string): number {
  type Weeks = { firstDay: number };
  const locale = new Intl.Locale(language) as Intl.Locale & { getWeekInfo?(): Weeks; weekInfo?: Weeks };
  return (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? 1;
}

function rowOf(day: string, firstWeekday: number): number {
  return (weekdayOf(day) - firstWeekday + 7) % 7;
}
