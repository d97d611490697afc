// What the address asks to see: a range of days, by day or month, in which time zone.
import { dayPlus, isDay, lengthOf, monthOf, monthPlus, type Span } from './days';
import { KINDS, type Kind } from './stats';
import { presentName } from './zones';

export const PRESETS = ['7', '30', '90', '12m'] as const;
export type Preset = (typeof PRESETS)[number];
export type By = 'day' | 'month';
export type Shown = Kind | 'all';
export type View = { preset: Preset | undefined; span: Span; by: By; shown: Shown };

// The server answers at most this many days at once.
export const MOST_DAYS = 400;
// More bars than this say less than their months do.
const MOST_DAYS_UNASKED = 92;
const FIRST_DAY = '1970-01-02';

export function viewIn(search: URLSearchParams, today: string): View {
  const preset = search.has('from') ? undefined : presetIn(search);
  const span = preset ? spanOf(preset, today) : (freeSpan(search, today) ?? spanOf('30', today));
  const wanted = search.get('by');
  const by = wanted === 'month' || wanted === 'day' ? wanted : byDefault(preset, span);
  const shown = KINDS.find((kind) => kind === search.get('show')) ?? 'all';
  return { preset, span, by: canBeByDay(span) ? by : 'month', shown };
}

export function spanOf(preset: Preset, today: string): Span {
  const first =
    preset === '12m' ? `${monthPlus(monthOf(today), -11)}-01` : dayPlus(today, 1 - Number(preset));
  return { first, last: today };
}

export function canBeByDay(span: Span): boolean {
  return lengthOf(span) <= MOST_DAYS;
}

/** The address with some of it changed; `null` takes something out. */
export function searchWith(search: URLSearchParams, changes: Record<string, string | null>): string {
  const changed = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  }
  return `?${changed}`;
}

/** The time zone in the address if it is valid, else that of the device. */
export function zoneIn(search: URLSearchParams): string {
  const wanted = search.get('zone');
  return wanted !== null && isZone(wanted) ? wanted : deviceZone();
}

export function deviceZone(): string {
  return presentName(new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC');
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    // An offset is none: the server knows zones by their names.
    return /^[a-z]/i.test(name);
  } catch {
    return false;
  }
}

function presetIn(search: URLSearchParams): Preset {
  return PRESETS.find((preset) => preset === search.get('range')) ?? '30';
}

function freeSpan(search: URLSearchParams, today: string): Span | undefined {
  const [first, last] = [search.get('from'), search.get('to')];
  if (!isDay(first) || !isDay(last) || first < FIRST_DAY || first > last) return undefined;
  return first > today ? undefined : { first, last: last > today ? today : last };
}

function byDefault(preset: Preset | undefined, span: Span): By {
  return preset === '12m' || lengthOf(span) > MOST_DAYS_UNASKED ? 'month' : 'day';
}
