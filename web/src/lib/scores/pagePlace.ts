// Where something is on a page: on the screen a page may be turned, while its marks are stored on the upright one.
import type { Place } from './marks';

export type Rotation = 0 | 90 | 180 | 270;

/** The place on the upright page for a place in its box on the screen, both 0 to 1. */
export function upright({ x, y }: Place, rotation: number): Place {
  switch (rotation) {
    case 90:
      return { x: y, y: 1 - x };
    case 180:
      return { x: 1 - x, y: 1 - y };
    case 270:
      return { x: 1 - y, y: x };
    default:
      return { x, y };
  }
}

/** The other way round. */
export function asTurned(place: Place, rotation: number): Place {
  return upright(place, (360 - rotation) % 360);
}

/** Height by width of the box on the screen. */
export function turnedAspect(aspect: number, rotation: number): number {
  return rotation % 180 ? 1 / aspect : aspect;
}

export function nextRotation(rotation: number): Rotation {
  return (((rotation + 90) % 360) as Rotation) || 0;
}

const STEP = 0.02;

/** A place that an arrow key moves; undefined for other keys. */
export function moved({ x, y }: Place, key: string): Place | undefined {
  const ways: Record<string, [number, number]> = {
    ArrowLeft: [-STEP, 0],
    ArrowRight: [STEP, 0],
    ArrowUp: [0, -STEP],
    ArrowDown: [0, STEP],
  };
  const way = ways[key];
  return way && { x: within(x + way[0]), y: within(y + way[1]) };
}

function within(part: number): number {
  return Math.min(1, Math.max(0, part));
}
