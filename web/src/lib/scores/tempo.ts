// Musical time: when beats fall, and what tempo somebody taps.

export const SLOWEST = 20;
export const FASTEST = 300;
// Whoever pauses longer than this begins to tap anew.
const PAUSE_SECONDS = 3;
const TAPS = 8;

/** A beat at a moment in seconds; the first of a bar is the one that is stressed. */
export type Beat = { at: number; inBar: number };

/** The beats from one moment until before another, for a metronome that began at `start`. */
export function beatsBetween(
  { start, tempo, beats }: { start: number; tempo: number; beats: number },
  from: number,
  until: number,
): Beat[] {
  const length = 60 / tempo;
  const found: Beat[] = [];
  for (let each = Math.max(0, Math.ceil((from - start) / length - 1e-9)); ; each++) {
    const at = start + each * length;
    if (at >= until - 1e-9) return found;
    found.push({ at, inBar: each % beats });
  }
}

export function boundedTempo(tempo: number): number {
  return Math.min(FASTEST, Math.max(SLOWEST, Math.round(tempo)));
}

/** The taps that still count once another has come, and the tempo that they make, if there are enough. */
export function tapped(taps: readonly number[], now: number): { taps: number[]; tempo: number | undefined } {
  const last = taps.at(-1);
  const kept = last !== undefined && now - last < PAUSE_SECONDS ? [...taps, now].slice(-TAPS) : [now];
  const first = kept[0];
  if (first === undefined || kept.length < 2) return { taps: kept, tempo: undefined };
  return { taps: kept, tempo: boundedTempo((60 * (kept.length - 1)) / (now - first)) };
}
