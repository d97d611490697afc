// The geometry of ink: how a stroke of a pen becomes a shape on a page, and what an eraser touches.

/** A place on a page, 0 to 1 of its width and of its height, and how hard the pen was pressed, 0 to 1. */
export type InkPoint = { x: number; y: number; pressure: number };

/** Drawings are made on a sheet that is so many units wide; its height follows from the shape of the page. */
export const SHEET = 1000;

// What a pen without pressure, such as a mouse, reports.
const USUAL_PRESSURE = 0.5;
// A firm stroke is this many times as wide as the pen, a faint one less.
const THINNEST = 0.45;
const WIDEST = 1.55;
const SMOOTHING = 0.55;

/** How wide ink is at a point, in units of the pen's own width. */
export function widthFactor(pressure: number): number {
  const pressed = Math.min(1, Math.max(0, pressure));
  return THINNEST + (WIDEST - THINNEST) * pressed ** 0.8;
}

/** Takes the tremble out of a hand: each point moves towards where the pen was; the first and the last stay. */
export function smoothed(points: readonly InkPoint[]): InkPoint[] {
  let before = points[0];
  if (!before) return [];
  const path = points.map((point) => {
    const last = before ?? point;
    before = {
      x: last.x + (point.x - last.x) * SMOOTHING,
      y: last.y + (point.y - last.y) * SMOOTHING,
      pressure: last.pressure + (point.pressure - last.pressure) * SMOOTHING,
    };
    return before;
  });
  const end = points.at(-1);
  return end && points.length > 1 ? [...path.slice(0, -1), end] : path;
}

/** The points that shape a stroke; those that lie within `tolerance` (of the page's width) of a line go. */
export function simplified(points: readonly InkPoint[], tolerance: number, aspect = 1): InkPoint[] {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < 3) return [...points];
  const kept = new Set([0, points.length - 1]);
  const spans: [number, number][] = [[0, points.length - 1]];
  for (let span = spans.pop(); span; span = spans.pop()) {
    const [from, to] = span;
    const { at, distance } = farthest(points, from, to, aspect);
    if (distance <= tolerance) continue;
    kept.add(at);
    spans.push([from, at], [at, to]);
  }
  return points.filter((_, at) => kept.has(at));
}

/** No more than `most` points: the tolerance grows until they fit. */
export function simplifiedTo(most: number, points: readonly InkPoint[], aspect = 1): InkPoint[] {
  let tolerance = 0.0004;
  let fewer = simplified(points, tolerance, aspect);
  while (fewer.length > most) {
    tolerance *= 1.6;
    fewer = simplified(fewer, tolerance, aspect);
  }
  return fewer;
}

function farthest(
  points: readonly InkPoint[],
  from: number,
  to: number,
  aspect: number,
): { at: number; distance: number } {
  const [start, end] = [points[from], points[to]];
  let [at, distance] = [from, 0];
  if (!start || !end) return { at, distance };
  for (let each = from + 1; each < to; each++) {
    const point = points[each];
    if (!point) continue;
    // A change of pressure shows as well, though less than a change of direction.
    const bend = Math.abs(point.pressure - (start.pressure + end.pressure) / 2) / 250;
    const off = Math.max(toSegment(point, start, end, aspect), bend);
    if (off > distance) [at, distance] = [each, off];
  }
  return { at, distance };
}

/** How far a point is from a line between two others, in widths of the page; `aspect` is its height by its width. */
function toSegment(point: Place, start: Place, end: Place, aspect: number): number {
  const [dx, dy] = [end.x - start.x, (end.y - start.y) * aspect];
  const [px, py] = [point.x - start.x, (point.y - start.y) * aspect];
  const length = dx * dx + dy * dy;
  const along = length ? Math.min(1, Math.max(0, (px * dx + py * dy) / length)) : 0;
  return Math.hypot(px - along * dx, py - along * dy);
}

type Place = { x: number; y: number };

/** Whether something as wide as `radius` (of the page's width) touches a stroke; also between two of its points. */
export function touches(points: readonly Place[], at: Place, radius: number, aspect: number): boolean {
  return points.some((point, index) => toSegment(at, points[index - 1] ?? point, point, aspect) <= radius);
}

/** Places along a line that are no farther from each other than `longest` (of the page's width). */
export function steps(points: readonly Place[], longest: number, aspect: number): Place[] {
  return points.flatMap((point, at) => {
    const { x, y } = points[at - 1] ?? point;
    const count = Math.max(1, Math.ceil(Math.hypot(point.x - x, (point.y - y) * aspect) / longest));
    return Array.from({ length: count }, (_, step) => ({
      x: x + ((point.x - x) * (step + 1)) / count,
      y: y + ((point.y - y) * (step + 1)) / count,
    }));
  });
}

/** The outline of a stroke as a path on the sheet. `width` is that of the pen, of the page's width. */
export function outline(points: readonly InkPoint[], width: number, aspect: number): string {
  const path = points.map(({ x, y, pressure }) => ({
    x: x * SHEET,
    y: y * SHEET * aspect,
    half: (width * SHEET * widthFactor(pressure || USUAL_PRESSURE)) / 2,
  }));
  const [first] = path;
  if (!first) return '';
  if (path.every(({ x, y }) => Math.hypot(x - first.x, y - first.y) < 0.5)) return dot(first);
  const left: Place[] = [];
  const right: Place[] = [];
  path.forEach((point, at) => {
    const [before, after] = [path[at - 1] ?? point, path[at + 1] ?? point];
    const length = Math.hypot(after.x - before.x, after.y - before.y) || 1;
    const across = { x: -(after.y - before.y) / length, y: (after.x - before.x) / length };
    left.push({ x: point.x + across.x * point.half, y: point.y + across.y * point.half });
    right.push({ x: point.x - across.x * point.half, y: point.y - across.y * point.half });
  });
  const [end, start] = [path.at(-1) ?? first, first];
  right.reverse();
  return (
    `M${written(left[0])}${curve(left)}` +
    `A${fixed(end.half)} ${fixed(end.half)} 0 0 0 ${written(right[0])}${curve(right)}` +
    `A${fixed(start.half)} ${fixed(start.half)} 0 0 0 ${written(left[0])}Z`
  );
}

/** The middle line of a stroke, for ink of one width such as a highlighter's. */
export function centreLine(points: readonly Place[], aspect: number): string {
  const path = points.map(({ x, y }) => ({ x: x * SHEET, y: y * SHEET * aspect }));
  const [first] = path;
  if (!first) return '';
  return path.length === 1 ? `M${written(first)}h0.01` : `M${written(first)}${curve(path)}`;
}

/** Through the middles of the lines between points, so that there are no corners. */
function curve(points: readonly Place[]): string {
  const last = points.at(-1);
  const parts = points.slice(1, -1).map((point, at) => {
    const next = points[at + 2] ?? point;
    return `Q${written(point)} ${written({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`;
  });
  return `${parts.join('')}L${written(last)}`;
}

function dot({ x, y, half }: Place & { half: number }): string {
  const r = fixed(half * 1.2);
  return `M${fixed(x - half * 1.2)} ${fixed(y)}a${r} ${r} 0 1 0 ${fixed(half * 2.4)} 0a${r} ${r} 0 1 0 ${fixed(-half * 2.4)} 0Z`;
}

function written(place: Place | undefined): string {
  return place ? `${fixed(place.x)} ${fixed(place.y)}` : '0 0';
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}
