import { describe, expect, it } from 'vitest';
import { blurOf } from './thumbhash';

// Both were made by the server: tests/media/test_thumbhash.py has the same.
const GRADIENT = '1afa093d9a8087877078888888788888807008f878';
const HALF_SEEN = '954a830300587a8c18d808388f72f63878888f88885878';

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function pixel(hex: string, x: number, y: number): number[] {
  const { width, height, rgba } = blurOf(bytes(hex));
  const place = (Math.round(y * (height - 1)) * width + Math.round(x * (width - 1))) * 4;
  return [...rgba.slice(place, place + 4)];
}

function expectNear(found: number[], wanted: number[], within = 45): void {
  for (const [index, value] of wanted.entries())
    expect(Math.abs((found[index] ?? 0) - value), `${found}`).toBeLessThanOrEqual(within);
}

describe('a placeholder', () => {
  it('has about the shape of its picture', () => {
    const { width, height } = blurOf(bytes(GRADIENT));
    expect([width, height]).toEqual([32, 23]);
  });

  it('has about its colours', () => {
    expectNear(pixel(GRADIENT, 0.05, 0.05), [12, 12, 60, 255]);
    expectNear(pixel(GRADIENT, 0.95, 0.05), [243, 12, 60, 255]);
    expectNear(pixel(GRADIENT, 0.05, 0.95), [12, 243, 60, 255]);
    expectNear(pixel(GRADIENT, 0.95, 0.95), [243, 243, 60, 255]);
  });

  it('is seen through where its picture is', () => {
    expect(pixel(HALF_SEEN, 0.5, 0.1)[3]).toBeGreaterThan(200);
    expect(pixel(HALF_SEEN, 0.5, 0.9)[3]).toBeLessThan(60);
  });
});
