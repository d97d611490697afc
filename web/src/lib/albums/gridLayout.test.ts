import { describe, expect, it } from 'vitest';
import { admitted, tilesOf } from './gridLayout';
import { fromColumns } from './photo';

const MEASURES = { width: 1000, rowPx: 200, headPx: 40 };

function photos(count: number) {
  const each = <T>(value: T): T[] => Array.from({ length: count }, () => value);
  return fromColumns({
    owners: each('ann'),
    ids: Array.from({ length: count }, (_, at) => `${at}`),
    times: each('2024-01-31T12:00:00'),
    types: each('IMAGE' as const),
    ratios: each(1333),
    placeholders: each(null),
    versions: each(null),
    durations_ms: each(0),
    favourites: each(false),
    guessed: each(false),
    pinned: each(false),
    cursor: null,
  });
}

const tiles = tilesOf(photos(100), MEASURES, -Infinity, Infinity).map(({ key, top }) => ({
  key,
  distance: top,
}));

describe('a grid', () => {
  it('has those tiles that touch what is in sight', () => {
    const shown = photos(100);
    const seen = tilesOf(shown, MEASURES, 1000, 1400);
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.every((tile) => tile.top + tile.height > 1000 && tile.top < 1400)).toBe(true);
    expect(tilesOf(shown, MEASURES, 1000, 1400)[0]).toBe(seen[0]);
  });

  it('takes a bounded number into the page with one frame, the nearest first', () => {
    let present: ReadonlySet<string> = new Set();
    for (let frame = 1; frame <= 5; frame++) {
      present = admitted(tiles, present, 20);
      expect(present).toEqual(new Set(tiles.slice(0, 20 * frame).map(({ key }) => key)));
    }
  });

  it('keeps what is there, and lets go of what is out of sight', () => {
    const present = new Set(tiles.slice(0, 50).map(({ key }) => key));
    const next = admitted(tiles.slice(40), present, 5);
    expect(next).toEqual(new Set(tiles.slice(40, 55).map(({ key }) => key)));
  });
});
