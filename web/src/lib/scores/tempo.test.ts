import { describe, expect, it } from 'vitest';
import { beatsBetween, boundedTempo, tapped } from './tempo';

describe('a metronome', () => {
  it('has each beat once, however the time is cut into pieces', () => {
    const metronome = { start: 10, tempo: 120, beats: 3 };
    const pieces = Array.from({ length: 40 }, (_, at) =>
      beatsBetween(metronome, 10 + at / 8, 10 + (at + 1) / 8),
    );
    expect(pieces.flat()).toEqual(beatsBetween(metronome, 0, 15));
    expect(pieces.flat().map(({ inBar }) => inBar)).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
    expect(pieces.flat()[1]?.at).toBeCloseTo(10.5);
  });

  it('keeps time after an hour', () => {
    const [beat] = beatsBetween({ start: 0, tempo: 97, beats: 4 }, 3600, 3601);
    expect(((beat?.at ?? 0) * 97) / 60).toBeCloseTo(5820, 6);
  });

  it('beats neither slower nor faster than anybody plays', () => {
    expect([boundedTempo(3), boundedTempo(99.6), boundedTempo(9999)]).toEqual([20, 100, 300]);
  });
});

describe('tapping a tempo', () => {
  function tap(...times: number[]): number | undefined {
    let state: { taps: number[]; tempo: number | undefined } = { taps: [], tempo: undefined };
    for (const time of times) state = tapped(state.taps, time);
    return state.tempo;
  }

  it('takes the mean of the last taps', () => {
    expect(tap(1)).toBeUndefined();
    expect(tap(1, 1.5, 2, 2.5)).toBe(120);
    expect(tap(0, 0.62, 1.18, 1.8)).toBe(100);
  });

  it('begins anew after a pause', () => expect(tap(0, 0.5, 1, 9, 10)).toBe(60));
});
