import { describe, expect, it } from 'vitest';
import {
  centreLine,
  outline,
  simplified,
  simplifiedTo,
  smoothed,
  steps,
  touches,
  widthFactor,
  type InkPoint,
} from './ink';

const A4 = Math.SQRT2;

function point(x: number, y: number, pressure = 0.5): InkPoint {
  return { x, y, pressure };
}

/** A hand that draws a wave over the page. */
const wave = Array.from({ length: 400 }, (_, at) => point(at / 400, 0.5 + 0.1 * Math.sin(at / 20), at / 400));

describe('the width of ink', () => {
  it('grows with the pressure of the pen, and has ends', () => {
    const widths = [-1, 0, 0.25, 0.5, 1, 2].map(widthFactor);
    expect(widths).toEqual([...widths].sort((a, b) => a - b));
    expect(widths[0]).toBe(widths[1]);
    expect(widths[4]).toBe(widths[5]);
    expect(widths[3]).toBeCloseTo(1, 0);
  });
});

describe('a stroke', () => {
  it('keeps its shape with a fraction of its points', () => {
    const few = simplified(wave, 0.001, A4);
    expect(few.length).toBeLessThan(80);
    expect([few[0], few.at(-1)]).toEqual([wave[0], wave.at(-1)]);
    for (const place of wave) expect(touches(few, place, 0.0025, A4)).toBe(true);
  });

  it('of 100,000 points fits what can be stored', () => {
    const scrawl = Array.from({ length: 100_000 }, (_, at) => point((at * 7919) % 1, Math.abs(Math.sin(at))));
    expect(simplifiedTo(300, scrawl, A4).length).toBeLessThanOrEqual(300);
  });

  it('keeps a straight line as its ends', () => {
    const line = Array.from({ length: 50 }, (_, at) => point(at / 50, at / 50));
    expect(simplified(line, 0.0005)).toEqual([line[0], line[49]]);
  });

  it('keeps a change of pressure on a straight line', () => {
    const swell = Array.from({ length: 51 }, (_, at) => point(at / 50, 0, 1 - Math.abs(at - 25) / 25));
    expect(simplified(swell, 0.001).length).toBeGreaterThan(2);
  });

  it('trembles less once it is smoothed, and ends where it ended', () => {
    const shaky = Array.from({ length: 60 }, (_, at) => point(at / 60, at % 2 ? 0.5 : 0.52));
    const spread = (points: InkPoint[]): number =>
      points.slice(10, -1).reduce((sum, each, at) => sum + Math.abs(each.y - (points[at + 9]?.y ?? 0)), 0);
    expect(spread(smoothed(shaky))).toBeLessThan(spread(shaky) / 2);
    expect(smoothed(shaky).at(-1)).toEqual(shaky.at(-1));
    expect(smoothed([])).toEqual([]);
    expect(smoothed([point(0.1, 0.2)])).toEqual([point(0.1, 0.2)]);
  });
});

describe('an eraser', () => {
  const line = [point(0.1, 0.1), point(0.9, 0.1)];

  it('touches a stroke between two of its points', () => {
    expect(touches(line, { x: 0.5, y: 0.105 }, 0.01, A4)).toBe(true);
    expect(touches(line, { x: 0.5, y: 0.12 }, 0.01, A4)).toBe(false);
    expect(touches(line, { x: 0.05, y: 0.1 }, 0.01, A4)).toBe(false);
  });

  it('is round on a page that is not square', () => {
    const dot = [point(0.5, 0.5)];
    expect(touches(dot, { x: 0.51, y: 0.5 }, 0.0101, 2)).toBe(true);
    expect(touches(dot, { x: 0.5, y: 0.51 }, 0.0101, 2)).toBe(false);
    expect(touches(dot, { x: 0.5, y: 0.505 }, 0.0101, 2)).toBe(true);
  });

  it('leaves nothing out, however fast it goes', () => {
    const way = steps([point(0.5, 0.05), point(0.5, 0.2)], 0.01, A4);
    expect(way.some((place) => touches(line, place, 0.01, A4))).toBe(true);
    expect(way.at(-1)).toEqual({ x: 0.5, y: 0.2 });
    expect(steps([point(0.3, 0.3)], 0.01, A4)).toEqual([{ x: 0.3, y: 0.3 }]);
  });

  it('touches nothing where nothing is', () => expect(touches([], { x: 0, y: 0 }, 1, 1)).toBe(false));
});

describe('the drawing of a stroke', () => {
  it('is a closed shape on a sheet as wide as 1000', () => {
    const shape = outline([point(0.1, 0.1), point(0.5, 0.2), point(0.9, 0.1)], 0.004, A4);
    expect(shape).toMatch(/^M.*Z$/);
    const numbers = shape.match(/-?\d+(\.\d+)?/g)?.map(Number) ?? [];
    expect(Math.max(...numbers)).toBeLessThan(1000);
    expect(shape).not.toContain('NaN');
  });

  it('is a dot where a pen only touched the paper', () => {
    expect(outline([point(0.5, 0.5)], 0.004, A4)).toMatch(/a.*a.*Z$/);
    expect(outline([point(0.5, 0.5), point(0.5, 0.5)], 0.004, A4)).toMatch(/a.*a.*Z$/);
    expect(centreLine([point(0.5, 0.5)], 1)).toBe('M500 500h0.01');
  });

  it('is nothing for no ink', () => {
    expect(outline([], 0.004, A4)).toBe('');
    expect(centreLine([], 1)).toBe('');
  });
});
