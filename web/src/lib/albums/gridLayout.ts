// Where everything in a grid stands: the tops of its sections, and the rows of those that are in sight.
import { assumedHeight, justified, type Rows } from './justifiedRows';
import { USUAL_RATIO, type Photo } from './photo';
import type { Section } from './sections';

export type Measures = { width: number; rowPx: number; headPx: number };
/** `tops` has one more than there are sections: the end of the last. */
export type Tops = Float64Array<ArrayBuffer>;
type Photos = readonly Photo[];

const SECTION_GAP_PX = 20;
const laidOut = new WeakMap<Photos, { width: number; rowPx: number; rows: Rows }>();

/** Laid out once for a width. */
export function rowsOf(photos: Photos, { width, rowPx }: Measures): Rows {
  const known = laidOut.get(photos);
  if (known?.width === width && known.rowPx === rowPx) return known.rows;
  const ratios = photos.map(({ ratio }) => ratio);
  const rows = justified(ratios, width, rowPx);
  laidOut.set(photos, { width, rowPx, rows });
  return rows;
}

export function topsOf(
  sections: readonly Section[],
  photosOf: (section: Section) => Photos | undefined,
  measures: Measures,
): Tops {
  const tops = new Float64Array(sections.length + 1);
  let top = 0;
  sections.forEach((section, at) => {
    const photos = photosOf(section);
    const height = photos
      ? rowsOf(photos, measures).height
      : assumedHeight(section.count, USUAL_RATIO, measures.width, measures.rowPx);
    top += measures.headPx + height + SECTION_GAP_PX;
    tops[at + 1] = top;
  });
  return tops;
}

/** The last section that begins at or above this height. */
export function sectionAt(tops: Tops, height: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((tops[middle] ?? 0) <= height) low = middle;
    else high = middle - 1;
  }
  return low;
}
