// Strokes as the server stores them: the points of a pen as short text, each the difference to the one before.
import type { InkPoint } from './ink';

/** What whole coordinates are counted in: so many to the width, and to the height, of a page. */
export const GRID = 10_000;
const PRESSED = 255;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Map([...LETTERS].map((letter, value) => [letter, value]));
const DIGIT = 32;

export function encodedStroke(points: readonly InkPoint[]): string {
  let before = [0, 0, 0];
  let text = '';
  for (const point of points) {
    const now = whole(point);
    now.forEach((value, at) => (text += encoded(value - (before[at] ?? 0))));
    before = now;
  }
  return text;
}

/** The points of a stroke; of text that is none, those before the fault. */
export function decodedStroke(text: string): InkPoint[] {
  const numbers = decoded(text);
  const points: InkPoint[] = [];
  let [x, y, pressure] = [0, 0, 0];
  for (let at = 0; at + 2 < numbers.length; at += 3) {
    x += numbers[at] ?? 0;
    y += numbers[at + 1] ?? 0;
    pressure += numbers[at + 2] ?? 0;
    points.push({ x: x / GRID, y: y / GRID, pressure: pressure / PRESSED });
  }
  return points;
}

/** The numbers as which a point is stored. */
function whole({ x, y, pressure }: InkPoint): number[] {
  return [onGrid(x), onGrid(y), Math.round(Math.min(1, Math.max(0, pressure)) * PRESSED)];
}

/** A coordinate of 0 to 1 as it is stored; outside of the page there is nothing. */
export function onGrid(part: number): number {
  return Math.round(Math.min(1, Math.max(0, part)) * GRID);
}

function encoded(value: number): string {
  let rest = value < 0 ? -value * 2 - 1 : value * 2;
  let text = '';
  while (rest >= DIGIT) {
    text += LETTERS[(rest % DIGIT) + DIGIT] ?? '';
    rest = Math.floor(rest / DIGIT);
  }
  return text + (LETTERS[rest] ?? '');
}

function decoded(text: string): number[] {
  const numbers: number[] = [];
  let [rest, place] = [0, 1];
  for (const letter of text) {
    const value = VALUES.get(letter);
    if (value === undefined) return numbers;
    rest += (value % DIGIT) * place;
    place *= DIGIT;
    if (value >= DIGIT) continue;
    numbers.push(rest % 2 ? -(rest + 1) / 2 : rest / 2);
    [rest, place] = [0, 1];
  }
  return numbers;
}
