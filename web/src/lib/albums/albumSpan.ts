// The time of an album as people type it: whole days, both included, or times, the end excluded.
import { addDays, isMidnight, lastDay } from './sections';

export type Typed = { first: string; last: string; exact: boolean };
export type Span = { start: string; end: string };

// As a field for date and time has it.
const MINUTES = 'YYYY-MM-DDTHH:MM'.length;

/** Days are enough if the album begins and ends at midnight. */
export function typedOf(start: string, end: string, exact = !isMidnight(start) || !isMidnight(end)): Typed {
  if (!start || !end) return { first: '', last: '', exact: false };
  if (!exact) return { first: start.slice(0, 10), last: lastDay(end), exact };
  return { first: withTime(start).slice(0, MINUTES), last: withTime(end).slice(0, MINUTES), exact };
}

/** Undefined while it is not complete. Seconds of the album that nobody has changed stay. */
export function spanOf({ first, last, exact }: Typed, before?: Span): Span | undefined {
  if (!first || !last) return undefined;
  if (!exact) return { start: first, end: addDays(last, 1) };
  return { start: kept(first, before?.start), end: kept(last, before?.end) };
}

function kept(typed: string, before = ''): string {
  return before.slice(0, MINUTES) === typed ? before : typed;
}

function withTime(moment: string): string {
  return moment.length > 10 ? moment : `${moment}T00:00`;
}
