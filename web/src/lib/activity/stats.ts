// The figures as the server knows them, and where they can be downloaded.
import { ask, http } from '$lib/api/client';
import type { components } from '$lib/api/schema';
import { monthOf, type Span } from './days';

export const KINDS = ['open', 'view', 'download', 'upload', 'press'] as const;
export type Kind = (typeof KINDS)[number];
export type Figures = components['schemas']['FiguresView'];
export type Day = components['schemas']['DayView'];
export type Days = components['schemas']['DaysView'];
export type Month = components['schemas']['MonthView'];
export type Summary = components['schemas']['SummaryView'];
export type Ranked = components['schemas']['RankedView'];
export type RangeFigures = components['schemas']['RangeView'];
export type Ranking = components['schemas']['RankingView'];

export function readSummary(scope: string, zone: string): Promise<Summary> {
  return ask(http.GET('/api/v1/stats/{scope}/summary', { params: { path: { scope }, query: { zone } } }));
}

export function readDays(scope: string, zone: string, { first, last }: Span): Promise<Days> {
  const query = { zone, from: first, to: last };
  return ask(http.GET('/api/v1/stats/{scope}/days', { params: { path: { scope }, query } }));
}

export async function readMonths(scope: string, { first, last }: Span): Promise<Month[]> {
  const query = { from: monthOf(first), to: monthOf(last) };
  const answer = await ask(http.GET('/api/v1/stats/{scope}/months', { params: { path: { scope }, query } }));
  return answer.months;
}

/** What a range comes to in all, and the one before it. */
export function readRange(scope: string, zone: string, { first, last }: Span): Promise<RangeFigures> {
  const query = { zone, from: first, to: last };
  return ask(http.GET('/api/v1/stats/{scope}/range', { params: { path: { scope }, query } }));
}

/** Between two days, or of all time. */
export function readTop(zone: string, span: Span | undefined): Promise<Ranking> {
  const query = span ? { zone, from: span.first, to: span.last } : { zone };
  return ask(http.GET('/api/v1/stats/top', { params: { query } }));
}

/** Where just what is shown can be downloaded. */
export function exportPath(
  scope: string,
  what: { zone: string; span: Span; by: 'day' | 'month'; format: 'csv' | 'json' },
): string {
  const { zone, span, by, format } = what;
  const query = new URLSearchParams({ format, by, from: span.first, to: span.last, zone });
  return `/api/v1/stats/${encodeURIComponent(scope)}/export?${query}`;
}
