// The photos of an album as files of this device, for a drop: the browser encrypts what it hands over.
import { Problem } from '$lib/api/problems';
import { renewSession } from '$lib/api/sessionRenewal';
import { fetchOne } from '$lib/files/savedOneByOne';
import { t } from '$lib/i18n/index.svelte';
import { readAlbumPhotos, type Album } from './albumCalls';
import { contentPath, type Photo } from './photo';
import { writtenTime } from './sections';

/** Tells after each file how many there are; breaks off when it is not wanted any more. */
export type Gather = (tell: (done: number, all: number) => void, signal: AbortSignal) => Promise<File[]>;

// Browsers hold them, partly on the disk, until the drop is over.
const [MOST_PHOTOS, MOST_BYTES] = [500, 2_000_000_000];

/** Undefined where there are none, or too many. */
export function gatherOf({ album_id, medias }: Album): Gather | undefined {
  if (!medias || medias > MOST_PHOTOS) return undefined;
  return async (tell, signal) => {
    await renewSession();
    const { photos } = await readAlbumPhotos(album_id, null);
    return photosAsFiles(photos, tell, signal);
  };
}

/** Those that were there when it was not wanted any more. Refuses more than a browser holds before it is loaded. */
export async function photosAsFiles(
  photos: readonly Photo[],
  ...[tell, signal]: Parameters<Gather>
): ReturnType<Gather> {
  const [files, names]: [File[], Set<string>] = [[], new Set()];
  let bytes = 0;
  for (const photo of photos) {
    const file = await fetchFor(photo, MOST_BYTES - bytes, signal);
    if (!file) break;
    bytes += file.size;
    files.push(named(file, apart(file.name, names)));
    tell(files.length, photos.length);
  }
  return files;
}

/** Undefined if it is not wanted any more. */
async function fetchFor(photo: Photo, mostBytes: number, signal: AbortSignal): Promise<File | undefined> {
  try {
    return await fetchOne({ address: forOthers(photo), type: '' }, { signal, mostBytes });
  } catch (failure) {
    if (signal.aborted) return undefined;
    if (!(failure instanceof Problem) || failure.slug !== 'original-withheld') throw failure;
    // Nobody finds it among hundreds by what the server says of one.
    const when = photo.time ? writtenTime(photo.time) : t('photos.undated');
    throw new Problem(failure.slug, failure.status, t('share.dropWithheld', { when }));
  }
}

/** As others get it: without the place, unless the album is shared with places. */
export function forOthers(photo: Photo): string {
  return `${contentPath(photo)}?for_others=true`;
}

/** Cameras begin to count anew: whoever has the name already keeps it. */
export function apart(name: string, names: Set<string>): string {
  const [, stem = name, ending = ''] = /^(.+?)(\.[^.]*)?$/.exec(name) ?? [];
  let free = name;
  for (let number = 2; names.has(free.toLowerCase()); number++) free = `${stem} (${number})${ending}`;
  names.add(free.toLowerCase());
  return free;
}

function named(file: File, name: string): File {
  return name === file.name ? file : new File([file], name, { type: file.type });
}
