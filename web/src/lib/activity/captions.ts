// Days, months, moments and figures in the reader's words.
import { currentVariety, number, t } from '$lib/i18n/index.svelte';
import type { Bar } from './bars';
import { KINDS, type Figures } from './stats';
import type { By, View } from './view';

/** Days and months are names, so no zone may shift them. */
function written(period: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(currentVariety(), { ...options, timeZone: 'UTC' }).format(
    Date.parse(period),
  );
}

export function longName(by: By, period: string): string {
  if (by === 'month') return written(period, { month: 'long', year: 'numeric' });
  return written(period, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

export function shortName(by: By, period: string): string {
  return written(
    period,
    by === 'month' ? { month: 'short', year: '2-digit' } : { day: 'numeric', month: 'short' },
  );
}

export function tableName(by: By, period: string): string {
  if (by === 'month') return longName(by, period);
  return written(period, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
}

export function monthName(month: string): string {
  return written(month, { month: 'short' });
}

/** Of a day, `2025-10-06` being a Monday. */
export function weekdayName(weekday: number): string {
  return written(`2025-10-${String(5 + weekday).padStart(2, '0')}`, { weekday: 'short' });
}

export function dayName(day: string): string {
  return written(day, { dateStyle: 'medium' });
}

export function timeIn(zone: string, moment: string): string {
  return new Intl.DateTimeFormat(currentVariety(), { timeStyle: 'short', timeZone: zone }).format(
    Date.parse(moment),
  );
}

export function momentIn(zone: string, moment: string): string {
  return new Intl.DateTimeFormat(currentVariety(), {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: zone,
  }).format(Date.parse(moment));
}

/** “Asia/Kathmandu (GMT+5:45)”. */
export function zoneName(zone: string, now = Date.now()): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'shortOffset' }).formatToParts(
    now,
  );
  return `${zone.replaceAll('_', ' ')} (${parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''})`;
}

/** What all bars that are shown come to, and from when to when. */
export function inAll({ by, shown }: Pick<View, 'by' | 'shown'>, bars: readonly Bar[]): string {
  const kind = shown === 'all' ? 'clicks' : shown;
  const count = bars.reduce((sum, { figures }) => sum + figures[kind], 0);
  const named = (bar: Bar | undefined): string => {
    if (!bar) return '';
    return by === 'month' ? longName(by, bar.period) : dayName(bar.period);
  };
  return t('activity.inAll', {
    figures: t(`activity.count.${kind}`, { count }),
    first: named(bars[0]),
    last: named(bars.at(-1)),
  });
}

/** By how many people; “…” while that is being counted, “–” where nobody can say any more. */
export function people(figures: Figures, pending: boolean): string {
  if (figures.people !== null) return number(figures.people);
  return pending ? '…' : '–';
}

/** All that is known of a period, to be read out. */
export function sentence(name: string, figures: Figures, pending: boolean): string {
  const kinds = KINDS.filter((kind) => figures[kind] > 0);
  const parts = [
    t('activity.count.clicks', { count: figures.clicks }),
    ...kinds.map((kind) => t(`activity.count.${kind}`, { count: figures[kind] })),
  ];
  if (figures.people !== null) parts.push(t('activity.count.people', { count: figures.people }));
  else parts.push(t(pending ? 'activity.people.pending' : 'activity.people.unknown'));
  return t('activity.said', {
    name,
    figures: parts.reduce((one, other) => t('activity.listed', { one, other })),
  });
}
