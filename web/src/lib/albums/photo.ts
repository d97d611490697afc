// A photo or video as grids show it, from the columns that the server answers.
import type { components } from '$lib/api/schema';

type Columns = components['schemas']['PhotoColumns'];
export type MediaType = Columns['types'][number];

export type Photo = {
  owner: string;
  id: string;
  /** Local wall time; empty if nothing says when it was taken. */
  time: string;
  type: MediaType;
  /** Width over height, as it is. */
  shape: number;
  /** The same in a grid, where none is a line or a thread. */
  ratio: number;
  /** A thumbhash in base64, or nothing. */
  placeholder: string;
  /** The version of its pictures; empty if there can be none. */
  version: string;
  durationMs: number;
  favourite: boolean;
  pinned: boolean;
  /** Somebody else's, among one's own. */
  foreign?: boolean;
  /** Where its bytes are for whoever came by a link, and what has to be said there. */
  at?: string;
  query?: string;
};

/** What most cameras make; assumed where nothing is known. */
export const USUAL_RATIO = 4 / 3;
// A panorama would be a line, and a long screenshot a thread.
const [NARROWEST, WIDEST] = [0.4, 3.5];

export function fromColumns(columns: Columns): Photo[] {
  return columns.ids.map((id, at) => ({
    owner: columns.owners[at] ?? '',
    id,
    time: columns.times[at] ?? '',
    type: columns.types[at] ?? 'IMAGE',
    ...ratiosOf((columns.ratios[at] ?? 0) / 1000),
    placeholder: columns.placeholders[at] ?? '',
    version: columns.versions[at] ?? '',
    durationMs: columns.durations_ms[at] ?? 0,
    favourite: columns.favourites[at] ?? false,
    pinned: columns.pinned[at] ?? false,
  }));
}

/** Both ratios of a photo; of none that is known, what is usual. */
export function ratiosOf(ratio: number): Pick<Photo, 'shape' | 'ratio'> {
  const shape = ratio > 0 ? ratio : USUAL_RATIO;
  return { shape, ratio: Math.min(WIDEST, Math.max(NARROWEST, shape)) };
}

/** Makers often write their name into the model as well, such as NIKON CORPORATION into NIKON Z 6. */
export function cameraName(make: string, model: string): string {
  const brand = make.toLowerCase().split(' ', 1)[0] ?? '';
  return model.toLowerCase().startsWith(brand) ? model : `${make} ${model}`.trim();
}

export function dayOf({ time }: Photo): string {
  return time.slice(0, 10);
}

type Addressed = Pick<Photo, 'owner' | 'id' | 'version' | 'at' | 'query'>;

/** A small or a screen-sized picture; undefined if there can be none. */
export function picturePath(photo: Addressed, size: 'grid' | 'preview'): string | undefined {
  if (!photo.version) return undefined;
  return `${pathOf(photo)}/picture/${size}/${photo.version}${photo.query ?? ''}`;
}

/** The original, shown in the browser; videos play from there. */
export function originalPath(photo: Addressed): string {
  return `${pathOf(photo)}/preview${photo.query ?? ''}`;
}

/** The original as a download. */
export function contentPath(photo: Addressed): string {
  return `${pathOf(photo)}/content${photo.query ?? ''}`;
}

/** Another file of a photo as a download: the video of a live photo, or its RAW. */
export function partPath(photo: Addressed, partId: string): string {
  return `${pathOf(photo)}/parts/${encodeURIComponent(partId)}/content`;
}

function pathOf({ owner, id, at }: Addressed): string {
  return at ?? `/api/v1/photos/${encodeURIComponent(owner)}/${encodeURIComponent(id)}`;
}
