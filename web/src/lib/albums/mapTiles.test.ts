import { expect, it } from 'vitest';
import { attributionOf, tileAddress, tilesAround, TILE_PX } from './mapTiles';

const BERLIN = { latitude: 52.5163, longitude: 13.3777 };
const SIZE = { width: 320, height: 180 };

it('finds the tile of a known place', () => {
  const tiles = tilesAround(BERLIN, 14, { width: 1, height: 1 });
  expect(tiles.map(({ x, y }) => [x, y])).toEqual([[8800, 5373]]);
  expect(tiles.map((tile) => tileAddress('https://t.example/{z}/{x}/{y}.png', 14, tile))).toEqual([
    'https://t.example/14/8800/5373.png',
  ]);
});

it('covers the whole map', () => {
  const tiles = tilesAround(BERLIN, 14, SIZE);
  expect(Math.min(...tiles.map(({ left }) => left))).toBeLessThanOrEqual(-SIZE.width / 2);
  expect(Math.max(...tiles.map(({ left }) => left)) + TILE_PX).toBeGreaterThanOrEqual(SIZE.width / 2);
  expect(Math.min(...tiles.map(({ top }) => top))).toBeLessThanOrEqual(-SIZE.height / 2);
  expect(Math.max(...tiles.map(({ top }) => top)) + TILE_PX).toBeGreaterThanOrEqual(SIZE.height / 2);
});

it('goes on beyond the date line, and stops at the poles', () => {
  const columns = tilesAround({ latitude: 0, longitude: 180 }, 3, SIZE).map(({ x }) => x);
  expect(new Set(columns)).toEqual(new Set([7, 0]));
  const rows = tilesAround({ latitude: 90, longitude: 0 }, 3, SIZE).map(({ y }) => y);
  expect(new Set(rows)).toEqual(new Set([0]));
});

it('makes a link of the address at the end of an attribution', () => {
  expect(attributionOf('© Somebody https://example.org/terms')).toEqual({
    text: '© Somebody',
    href: 'https://example.org/terms',
  });
  expect(attributionOf('© Somebody')).toEqual({ text: '© Somebody', href: undefined });
  expect(attributionOf('')).toEqual({ text: '', href: undefined });
});
