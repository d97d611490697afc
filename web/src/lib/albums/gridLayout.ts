// Where everything in a grid stands: the tops of its sections, and the rows of those that are in sight.
import { assumedHeight, justified, type Rows } from './justifiedRows';
import { USUAL_RATIO, type Photo } from './photo';
import type { Section } from './sections';

export type Measures = { width: number; rowPx: number; headPx: number };
/** `tops` has one more than there are sections: the end of the last. */
export type Tops = Float64Array<ArrayBuffer>;
type Photos = readonly Photo[];
/** Where a photo stands in its section. Two people may have the same bytes, and so the same id. */
export type Tile = { key: string; photo: Photo; top: number; left: number; width: number; height: number };
/** A tile that would be in the page, and how far it is from the middle of what is in sight. */
export type Candidate = { key: string; distance: number };

const SECTION_GAP_PX = 20;
const laidOut = new WeakMap<Photos, { width: number; rowPx: number; rows: Rows; tiles?: Tile[] }>();

/** Laid out once for a width. */
export function rowsOf(photos: Photos, { width, rowPx }: Measures): Rows {
  const known = laidOut.get(photos);
  if (known?.width === width && known.rowPx === rowPx) return known.rows;
  const ratios = photos.map(({ ratio }) => ratio);
  const rows = justified(ratios, width, rowPx);
  laidOut.set(photos, { width, rowPx, rows });
  return rows;
}

/** The tiles between two heights of a section. They stay the same objects, so that nothing is drawn again. */
export function tilesOf(photos: Photos, measures: Measures, from: number, to: number): Tile[] {
  rowsOf(photos, measures);
  const known = laidOut.get(photos);
  if (!known) return [];
  known.tiles ??= known.rows.rows.flatMap(({ top, height, boxes }) =>
    boxes.map(({ at, left, width }) => {
      const photo = photos[at] as Photo;
      return { key: `${photo.owner} ${photo.id}`, photo, top, left, width, height };
    }),
  );
  return known.tiles.filter(({ top, height }) => top + height > from && top < to);
}

/**
 * The tiles that may be in the page now: those that are there already, and of the others no more than `most`, those
 * nearest to the middle first. So a frame has a bounded amount of work, however far somebody has scrolled.
 */
export function admitted(
  wanted: readonly Candidate[],
  present: ReadonlySet<string>,
  most: number,
): Set<string> {
  const nearest = wanted
    .filter(({ key }) => !present.has(key))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, most);
  return new Set([...wanted.filter(({ key }) => present.has(key)), ...nearest].map(({ key }) => key));
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
