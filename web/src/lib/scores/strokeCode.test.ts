import { describe, expect, it } from 'vitest';
import { decodedStroke, encodedStroke } from './strokeCode';

describe('a stroke as text', () => {
  it('is as the server writes it', () => {
    const points = [
      [0, 0, 128],
      [1, 0, 128],
      [100, 50, 127],
    ].map(([x = 0, y = 0, pressure = 0]) => ({ x: x / 10_000, y: y / 10_000, pressure: pressure / 255 }));
    expect(encodedStroke(points)).toBe('AAgICAAmGkDB');
    expect(decodedStroke('AAgICAAmGkDB')).toEqual(points);
  });

  it('comes back as it was, to a ten thousandth of the page', () => {
    const points = Array.from({ length: 200 }, (_, at) => ({
      x: 0.5 + 0.5 * Math.sin(at),
      y: ((at * 37) % 100) / 100,
      pressure: (at % 10) / 10,
    }));
    decodedStroke(encodedStroke(points)).forEach(({ x, y, pressure }, at) => {
      expect(x).toBeCloseTo(points[at]?.x ?? -1, 4);
      expect(y).toBeCloseTo(points[at]?.y ?? -1, 4);
      expect(pressure).toBeCloseTo(points[at]?.pressure ?? -1, 2);
    });
  });

  it('ends at the edge of the page', () => {
    expect(decodedStroke(encodedStroke([{ x: -3, y: 7, pressure: 2 }]))).toEqual([
      { x: 0, y: 1, pressure: 1 },
    ]);
  });

  it('of which a part is lost is drawn as far as it can be read', () => {
    expect(decodedStroke('')).toEqual([]);
    expect(decodedStroke('AAgICA')).toHaveLength(1);
    expect(decodedStroke('AAgI!AAA')).toHaveLength(1);
  });
});
