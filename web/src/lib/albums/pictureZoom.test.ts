import { expect, test } from 'vitest';
import { PictureZoom } from './pictureZoom.svelte';

function zoomed(): PictureZoom {
  return new PictureZoom(() => ({ box: { x: 1000, y: 600 }, picture: { x: 800, y: 600 } }));
}

test('the point under the pointer stays there', () => {
  const zoom = zoomed();
  zoom.to(2, { x: 100, y: 50 });
  expect(zoom.scale).toBe(2);
  expect(zoom.shift).toEqual({ x: -100, y: -50 });
});

test('it is neither smaller than whole nor larger than five times, and whole it is in the middle', () => {
  const zoom = zoomed();
  zoom.to(99);
  expect(zoom.scale).toBe(5);
  zoom.by({ x: 40, y: 40 });
  zoom.to(0.2);
  expect(zoom.scale).toBe(1);
  expect(zoom.shift).toEqual({ x: 0, y: 0 });
  expect(zoom.isOn).toBe(false);
});

test('its edges do not come into the box', () => {
  const zoom = zoomed();
  zoom.to(2);
  zoom.by({ x: 10_000, y: -10_000 });
  expect(zoom.shift).toEqual({ x: 300, y: -300 });
});
