// The justified grid: rows that fill the width, each picture in its own ratio.

export type Box = { at: number; left: number; width: number };
export type Row = { top: number; height: number; boxes: Box[] };
export type Rows = { rows: Row[]; height: number };

export const GAP_PX = 4;

/** Lays out pictures of these ratios in rows as close to `target` pixels high as can be. */
export function justified(ratios: readonly number[], width: number, target: number): Rows {
  const rows: Row[] = [];
  let [first, sum, top] = [0, 0, 0];

  /** The height of a row that begins at `first` and ends before `end`. */
  function heightOf(end: number, ratio: number): number {
    return (width - GAP_PX * (end - first - 1)) / ratio;
  }

  function close(end: number, height: number): void {
    rows.push({ top, height, boxes: boxesOf(ratios, first, end, height) });
    top += height + GAP_PX;
    [first, sum] = [end, 0];
  }

  ratios.forEach((ratio, at) => {
    const [without, within] = [heightOf(at, sum), heightOf(at + 1, sum + ratio)];
    // The picture that fills the row stays in it only if the row is then closer to what is wanted.
    if (at > first && within < target && without - target < target - within) close(at, without);
    sum += ratio;
    const height = heightOf(at + 1, sum);
    if (height <= target) close(at + 1, height);
  });
  // The last row is not stretched, and no higher than the one above it.
  const above = rows.at(-1)?.height ?? target;
  if (first < ratios.length) close(ratios.length, Math.min(heightOf(ratios.length, sum), target, above));
  return { rows, height: rows.length ? top - GAP_PX : 0 };
}

/** The height of so many pictures that are not known yet. */
export function assumedHeight(count: number, ratio: number, width: number, target: number): number {
  const inRow = Math.max(1, Math.round(width / (ratio * target)));
  const rows = Math.ceil(count / inRow);
  return rows * (target + GAP_PX) - GAP_PX;
}

function boxesOf(ratios: readonly number[], first: number, end: number, height: number): Box[] {
  const boxes: Box[] = [];
  let left = 0;
  for (let at = first; at < end; at++) {
    const width = (ratios[at] ?? 1) * height;
    boxes.push({ at, left, width });
    left += width + GAP_PX;
  }
  return boxes;
}
