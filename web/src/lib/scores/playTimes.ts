// When what is played, and where on the pages that is. Times are milliseconds of the music at its own tempo.
import type { components } from '$lib/api/schema';

export type Playback = components['schemas']['ScorePlaybackView'];
export type Bar = components['schemas']['BarView'];
export type Note = { at: number; length: number; pitch: number; instrument: number };
export type Moment = { at: number; bar: number; beat: number };
/** A line over all staves of a bar, in ten-thousandths of the page. */
export type Cursor = { pageId: number; x: number; y: number; height: number };

export const SLOWEST_PERCENT = 25;
export const FASTEST_PERCENT = 200;

export function notesOf({ notes }: Playback): Note[] {
  return notes.map(([at = 0, length = 0, pitch = 0, instrument = 0]) => ({ at, length, pitch, instrument }));
}

export function momentsOf({ moments }: Playback): Moment[] {
  return moments.map(([at = 0, bar = 0, beat = 0]) => ({ at, bar, beat }));
}

export function boundedPercent(percent: number): number {
  if (!Number.isFinite(percent)) return 100;
  return Math.round(Math.min(FASTEST_PERCENT, Math.max(SLOWEST_PERCENT, percent)));
}

/** How many of these begin before a time; they are in the order of their times. */
export function countBefore(timed: readonly { at: number }[], time: number): number {
  let [low, high] = [0, timed.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((timed[middle]?.at ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last moment that has begun. */
export function momentAt(moments: readonly Moment[], time: number): Moment | undefined {
  return moments[Math.max(0, countBefore(moments, time + 0.5) - 1)];
}

/** From the beginning of one bar to the end of another, the first time that they are played so. */
export function spanOf(
  moments: readonly Moment[],
  length: number,
  from: number,
  to: number,
): [number, number] | undefined {
  const first = moments.findIndex(({ bar }) => bar === from);
  const last = moments.findIndex(({ bar }, at) => at >= first && bar === Math.max(from, to));
  if (first < 0 || last < 0) return undefined;
  const after = moments.findIndex(({ bar }, at) => at > last && bar !== moments[last]?.bar);
  return [moments[first]?.at ?? 0, after < 0 ? length : (moments[after]?.at ?? length)];
}

/** Where a moment is, if its bar is on a page that is there. */
export function cursorOf(bars: ReadonlyMap<number, Bar>, { bar, beat }: Moment): Cursor | undefined {
  const place = bars.get(bar);
  if (!place) return undefined;
  const { page_id: pageId, x, width, y, height, beats, beat_xs: xs } = place;
  const after = beats.findIndex((each) => each > beat);
  const at = after < 0 ? beats.length - 1 : after - 1;
  const [start, left] = at < 0 ? [0, x] : [beats[at] ?? 0, xs[at] ?? x];
  const [end, right] = after < 0 ? [start + 1000, x + width] : [beats[after] ?? start, xs[after] ?? left];
  const share = end > start ? Math.min(1, (beat - start) / (end - start)) : 0;
  return { pageId, x: left + (right - left) * share, y, height };
}
