// A mark on a page: ink, highlighter, text or stamp, as it is drawn and as it is stored.
import type { components } from '$lib/api/schema';
import { simplifiedTo, smoothed, touches, type InkPoint } from './ink';
import { decodedStroke, encodedStroke, GRID, onGrid } from './strokeCode';

export type Mark = components['schemas']['MarkView'];
export type NewMark = components['schemas']['NewMark'];
export type Layer = components['schemas']['LayerView'];
export type Place = { x: number; y: number };

/** What can be stored in a mark is bounded; more points than this nobody sees. */
const MOST_POINTS = 300;
const TEXT_LINE = 1.25;
const LETTER = 0.55;

/** What a pen has drawn, as a mark to be stored. `aspect` is the height of the page by its width. */
export function inkMark(
  kind: 'pen' | 'highlighter',
  { pageId, colour, width }: { pageId: number; colour: string; width: number },
  points: readonly InkPoint[],
  aspect: number,
): NewMark {
  const stroke = encodedStroke(simplifiedTo(MOST_POINTS, smoothed(points), aspect));
  return { ...blank(pageId, colour), kind, width, stroke };
}

export function textMark(pageId: number, colour: string, at: Place, text: string, size: number): NewMark {
  return { ...blank(pageId, colour), kind: 'text', text, size, x: onGrid(at.x), y: onGrid(at.y) };
}

export function stampMark(pageId: number, colour: string, at: Place, stamp: string, size: number): NewMark {
  return { ...blank(pageId, colour), kind: 'stamp', stamp, size, x: onGrid(at.x), y: onGrid(at.y) };
}

/** What it takes to make a mark like this one again. */
export function newMark(mark: Mark): NewMark {
  const { page_id, kind, colour, width, stroke, x, y, text, stamp, size, anchor } = mark;
  return { page_id, kind, colour, width, stroke, x, y, text, stamp, size, anchor };
}

function blank(pageId: number, colour: string): NewMark {
  return {
    page_id: pageId,
    kind: 'pen',
    colour,
    width: 0,
    stroke: '',
    x: 0,
    y: 0,
    text: '',
    stamp: '',
    size: 0,
  };
}

/** Whether an eraser of this radius (of the page's width) touches a mark. */
export function isTouched(mark: NewMark, at: Place, radius: number, aspect: number): boolean {
  if (mark.kind === 'pen' || mark.kind === 'highlighter')
    return touches(decodedStroke(mark.stroke ?? ''), at, radius + (mark.width ?? 0) / GRID / 2, aspect);
  const { left, top, width, height } = boxOf(mark, aspect);
  const [dx, dy] = [outside(at.x, left, width), outside(at.y, top, height) * aspect];
  return Math.hypot(dx, dy) <= radius;
}

/** Where a text or a stamp is, in parts of the page. */
function boxOf(
  { kind, x = 0, y = 0, size = 0, text = '' }: NewMark,
  aspect: number,
): { left: number; top: number; width: number; height: number } {
  const side = size / GRID;
  if (kind === 'stamp')
    return {
      left: x / GRID - side / 2,
      top: y / GRID - side / aspect / 2,
      width: side,
      height: side / aspect,
    };
  const lines = text.split('\n');
  const longest = Math.max(...lines.map((line) => lengthOf(line)));
  return {
    left: x / GRID,
    top: y / GRID,
    width: (side / TEXT_LINE) * LETTER * longest,
    height: (side * lines.length) / aspect,
  };
}

/** In letters of the Latin kind; those of East Asia are about twice as wide. */
function lengthOf(line: string): number {
  return [...line].reduce((sum, letter) => sum + ((letter.codePointAt(0) ?? 0) > 0x2e80 ? 1.8 : 1), 0);
}

function outside(value: number, start: number, length: number): number {
  return Math.max(0, start - value, value - start - length);
}

/** How high a letter is in a text whose lines are so high. */
export function fontSize(size: number): number {
  return size / TEXT_LINE;
}
