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
  /** Width over height. */
  ratio: number;
  /** A thumbhash in base64, or nothing. */
  placeholder: string;
  /** The version of its pictures; empty if there are none yet. */
  version: string;
  durationMs: number;
  favourite: boolean;
  pinned: boolean;
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
    ratio: usable((columns.ratios[at] ?? 0) / 1000),
    placeholder: columns.placeholders[at] ?? '',
    version: columns.versions[at] ?? '',
    durationMs: columns.durations_ms[at] ?? 0,
    favourite: columns.favourites[at] ?? false,
    pinned: columns.pinned[at] ?? false,
  }));
}

function usable(ratio: number): number {
  return ratio > 0 ? Math.min(WIDEST, Math.max(NARROWEST, ratio)) : USUAL_RATIO;
}

export function dayOf({ time }: Photo): string {
  return time.slice(0, 10);
}

type Addressed = Pick<Photo, 'owner' | 'id' | 'version'>;

/** A small or a screen-sized picture. One that is not made yet is the original, if browsers can show it. */
export function picturePath(photo: Addressed, size: 'grid' | 'preview'): string {
  return photo.version ? `${pathOf(photo)}/picture/${size}/${photo.version}` : originalPath(photo);
}

/** The original, shown in the browser; videos play from there. */
export function originalPath(photo: Addressed): string {
  return `${pathOf(photo)}/preview`;
}

/** The original as a download. */
export function contentPath(photo: Addressed): string {
  return `${pathOf(photo)}/content`;
}

function pathOf({ owner, id }: Addressed): string {
  return `/api/v1/photos/${encodeURIComponent(owner)}/${encodeURIComponent(id)}`;
}
