// The sections of a grid: whole days; neighbouring days with few photos share one.
import { currentVariety, t } from '$lib/i18n/index.svelte';
import { dayOf, type Photo } from './photo';

export type DayCount = { day: string; count: number };
/** `from` is the oldest day and `to` the newest; both are empty for photos without a date. */
export type Section = { key: string; from: string; to: string; count: number };

// Fewer would leave most of a row empty.
const FEW = 8;

/** Days in their order, either way; those that share a section are of one month, or of one album. */
export function sectionsOf(days: readonly DayCount[], within: 'month' | 'album' = 'month'): Section[] {
  const sections: Section[] = [];
  for (const { day, count } of days) {
    const last = sections.at(-1);
    const isNear = within === 'album' || last?.to.slice(0, 7) === day.slice(0, 7);
    if (last && day && last.to && last.count < FEW && count < FEW && isNear) {
      const [from, to] = [last.from < day ? last.from : day, last.to > day ? last.to : day];
      sections[sections.length - 1] = section(from, to, last.count + count);
    } else {
      sections.push(section(day, day, count));
    }
  }
  return sections;
}

/** The photos of each section; without days, all are in one. */
export function partsOf(photos: readonly Photo[], byDay: boolean): Map<Section, readonly Photo[]> {
  const parts = new Map<Section, readonly Photo[]>();
  if (!photos.length) return parts;
  const whole = { key: 'all', from: '', to: '', count: photos.length };
  let first = 0;
  for (const each of byDay ? sectionsOf(daysOf(photos), 'album') : [whole]) {
    parts.set(each, photos.slice(first, first + each.count));
    first += each.count;
  }
  return parts;
}

/** The days of photos in their order. */
export function daysOf(photos: readonly Photo[]): DayCount[] {
  const days: DayCount[] = [];
  for (const photo of photos) {
    const last = days.at(-1);
    if (last?.day === dayOf(photo)) last.count += 1;
    else days.push({ day: dayOf(photo), count: 1 });
  }
  return days;
}

function section(from: string, to: string, count: number): Section {
  return { key: `${from}/${to}/${count}`, from, to, count };
}

/** Dates of photos are local wall times; read as UTC and written as UTC, they stay what they are. */
function utc(day: string): Date {
  return new Date(`${day.slice(0, 10)}T00:00:00Z`);
}

// A formatter takes longer to make than to use, and a grid writes hundreds of dates while it scrolls.
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const variety = currentVariety();
  const key = `${variety} ${Object.values(options).join(' ')}`;
  let format = formats.get(key);
  if (!format) formats.set(key, (format = new Intl.DateTimeFormat(variety, { ...options, timeZone: 'UTC' })));
  return format;
}

const DAY = { day: 'numeric', month: 'long', year: 'numeric' } as const;

export function writtenDays(from: string, to: string): string {
  if (!from) return t('photos.undated');
  if (from === to) return formatOf({ ...DAY, weekday: 'short' }).format(utc(from));
  return formatOf(DAY).formatRange(utc(from), utc(to));
}

export function writtenMonth(day: string): string {
  return formatOf({ month: 'short', year: 'numeric' }).format(utc(day));
}

/** A local wall time, in words. */
export function writtenTime(time: string): string {
  return formatOf({ dateStyle: 'full', timeStyle: 'short' }).format(new Date(`${time.slice(0, 19)}Z`));
}

/** The last day of an album, whose end is excluded. */
export function lastDay(end: string): string {
  return isMidnight(end) ? addDays(end, -1) : end.slice(0, 10);
}

export function isMidnight(moment: string): boolean {
  return !moment.slice(11, 19).replace(/[:0]/g, '');
}

export function addDays(day: string, count: number): string {
  const moment = utc(day);
  moment.setUTCDate(moment.getUTCDate() + count);
  return moment.toISOString().slice(0, 10);
}
