import { describe, expect, it } from 'vitest';
import { assumedHeight, GAP_PX, justified } from './justifiedRows';

const RATIOS = [1.5, 0.66, 1.33, 1.78, 1, 1.5, 1.5, 0.75, 3, 0.5, 1.33, 1.33];

describe('a justified grid', () => {
  it.each([320, 700, 1400])('fills a width of %d with every row but the last', (width) => {
    const { rows } = justified(RATIOS, width, 180);
    for (const { boxes } of rows.slice(0, -1)) {
      const last = boxes.at(-1);
      expect((last?.left ?? 0) + (last?.width ?? 0)).toBeCloseTo(width, 6);
    }
    expect(rows.flatMap(({ boxes }) => boxes.map(({ at }) => at))).toEqual(RATIOS.map((_, at) => at));
  });

  it('keeps the ratio of every picture, and gaps between rows', () => {
    const { rows, height } = justified(RATIOS, 900, 180);
    for (const row of rows)
      for (const { at, width } of row.boxes) expect(width / row.height).toBeCloseTo(RATIOS[at] ?? 0, 6);
    rows.slice(1).forEach(({ top }, at) => {
      const above = rows[at];
      expect(top).toBeCloseTo((above?.top ?? 0) + (above?.height ?? 0) + GAP_PX, 6);
    });
    const last = rows.at(-1);
    expect(height).toBeCloseTo((last?.top ?? 0) + (last?.height ?? 0), 6);
  });

  it('does not stretch a picture that is alone', () => {
    const { rows } = justified([1.5], 1400, 180);
    expect(rows[0]?.height).toBe(180);
  });

  it('is nothing for nothing', () => {
    expect(justified([], 900, 180)).toEqual({ rows: [], height: 0 });
  });

  it('is about as high as assumed before the pictures are known', () => {
    const ratios = Array.from({ length: 200 }, () => 4 / 3);
    const { height } = justified(ratios, 1000, 200);
    expect(Math.abs(assumedHeight(200, 4 / 3, 1000, 200) - height) / height).toBeLessThan(0.1);
  });
});
