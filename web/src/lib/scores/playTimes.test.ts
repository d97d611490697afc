import { describe, expect, it } from 'vitest';
import { boundedPercent, countBefore, cursorOf, momentAt, spanOf, type Bar, type Moment } from './playTimes';

// Two bars of two quarters, the first one repeated.
const moments: Moment[] = [0, 0, 1].flatMap((bar, played) =>
  [0, 1000].map((beat) => ({ at: played * 1000 + beat / 2, bar, beat })),
);
const bar: Bar = {
  page_id: 7,
  bar: 0,
  number: '1',
  x: 1000,
  y: 500,
  width: 3000,
  height: 800,
  beats: [0, 1000],
  beat_xs: [1500, 2500],
};

describe('what is played', () => {
  it('is found by its time', () => {
    expect(countBefore(moments, 1000)).toBe(2);
    expect(momentAt(moments, 999)).toMatchObject({ bar: 0, beat: 1000 });
    expect(momentAt(moments, 2000)).toMatchObject({ bar: 1, beat: 0 });
    expect(momentAt([], 5)).toBeUndefined();
  });

  it('can be played from bar to bar again', () => {
    expect(spanOf(moments, 3000, 0, 0)).toEqual([0, 2000]);
    expect(spanOf(moments, 3000, 1, 1)).toEqual([2000, 3000]);
    expect(spanOf(moments, 3000, 0, 1)).toEqual([0, 3000]);
    expect(spanOf(moments, 3000, 1, 0)).toEqual([2000, 3000]);
    expect(spanOf(moments, 3000, 5, 9)).toBeUndefined();
  });

  it('has a place on the page', () => {
    const bars = new Map([[0, bar]]);
    expect(cursorOf(bars, { at: 0, bar: 0, beat: 0 })).toEqual({ pageId: 7, x: 1500, y: 500, height: 800 });
    expect(cursorOf(bars, { at: 0, bar: 0, beat: 500 })?.x).toBe(2000);
    // After the last note that is written, towards the end of the bar.
    expect(cursorOf(bars, { at: 0, bar: 0, beat: 1500 })?.x).toBe(3250);
    expect(cursorOf(bars, { at: 0, bar: 1, beat: 0 })).toBeUndefined();
  });

  it('is played at a quarter to twice its tempo', () => {
    expect([1, 25, 99.6, 300, NaN].map(boundedPercent)).toEqual([25, 25, 100, 200, 100]);
  });
});
