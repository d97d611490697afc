// The justified grid: rows of equal height that fill the width, each picture in its own ratio.

export type Box = { at: number; left: number; width: number };
export type Row = { top: number; height: number; boxes: Box[] };
export type Rows = { rows: Row[]; height: number };

export const GAP_PX = 4;
// The last row of a section is not stretched more than this.
const MOST_STRETCH = 1.25;

/** Lays out pictures of these ratios in rows of about `target` pixels. */
export function justified(ratios: readonly number[], width: number, target: number): Rows {
  const rows: Row[] = [];
  let [first, sum, top] = [0, 0, 0];
  for (let at = 0; at < ratios.length; at++) {
    sum += ratios[at] ?? 1;
    const room = width - GAP_PX * (at - first);
    const isLast = at === ratios.length - 1;
    if (sum * target < room && !isLast) continue;
    const height = Math.min(room / sum, isLast ? target * MOST_STRETCH : Infinity);
    rows.push({ top, height, boxes: boxesOf(ratios, first, at, height) });
    top += height + GAP_PX;
    [first, sum] = [at + 1, 0];
  }
  return { rows, height: rows.length ? top - GAP_PX : 0 };
}

/** The height of so many pictures that are not known yet. */
export function assumedHeight(count: number, ratio: number, width: number, target: number): number {
  const inRow = Math.max(1, Math.round(width / (ratio * target)));
  const rows = Math.ceil(count / inRow);
  return rows * (target + GAP_PX) - GAP_PX;
}

function boxesOf(ratios: readonly number[], first: number, last: number, height: number): Box[] {
  const boxes: Box[] = [];
  let left = 0;
  for (let at = first; at <= last; at++) {
    const width = (ratios[at] ?? 1) * height;
    boxes.push({ at, left, width });
    left += width + GAP_PX;
  }
  return boxes;
}
