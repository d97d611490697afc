import { describe, expect, it } from 'vitest';
import { asTurned, moved, nextRotation, turnedAspect, upright } from './pagePlace';

describe('a place on a turned page', () => {
  it.each([0, 90, 180, 270])('is found again after a turn of %d degrees', (rotation) => {
    const place = { x: 0.2, y: 0.7 };
    const back = upright(asTurned(place, rotation), rotation);
    expect(back.x).toBeCloseTo(place.x);
    expect(back.y).toBeCloseTo(place.y);
  });

  it('follows the corners', () => {
    // Turned clockwise by 90 degrees, the upper left corner is at the upper right.
    expect(asTurned({ x: 0, y: 0 }, 90)).toEqual({ x: 1, y: 0 });
    expect(asTurned({ x: 0, y: 0 }, 180)).toEqual({ x: 1, y: 1 });
    expect(asTurned({ x: 0, y: 0 }, 270)).toEqual({ x: 0, y: 1 });
  });

  it('knows the shape of the box, and goes round', () => {
    expect(turnedAspect(1.5, 180)).toBe(1.5);
    expect(turnedAspect(2, 270)).toBe(0.5);
    expect([0, 90, 180, 270].map(nextRotation)).toEqual([90, 180, 270, 0]);
  });

  it('is moved by arrow keys, and stays on the page', () => {
    expect(moved({ x: 0.5, y: 0.99 }, 'ArrowDown')).toEqual({ x: 0.5, y: 1 });
    expect(moved({ x: 0.01, y: 0.5 }, 'ArrowLeft')).toEqual({ x: 0, y: 0.5 });
    expect(moved({ x: 0.5, y: 0.5 }, 'Enter')).toBeUndefined();
  });
});
