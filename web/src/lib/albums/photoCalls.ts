// The API calls for photos, and their types.
import { ask, http, patiently } from '$lib/api/client';
import type { components, operations } from '$lib/api/schema';
import { inParts } from '$lib/shell/browserDownload';
import { fromColumns, type Photo } from './photo';
import type { DayCount } from './sections';

type Signature = components['schemas']['FileSignature'];
type Usage = components['schemas']['PhotoUsage'];
type PhotoMapSource = components['schemas']['PhotoMapView'];
type Known = components['schemas']['KnownView'];
export type PhotoDetails = components['schemas']['PhotoView'];
export type PhotoSearch = NonNullable<operations['search_photos']['parameters']['query']>;
export type DuplicateGroup = components['schemas']['DuplicateGroup'];
export type PhotoPage = { photos: Photo[]; cursor: string | null };

const PAGE = 1000;
const COPIED_AT_ONCE = 100;

/** With `shared`, also what others share with the caller. */
export async function readDays(shared: boolean): Promise<DayCount[]> {
  const params = { query: { shared } };
  return (await ask(http.GET('/api/v1/photos/days', { params }))).days;
}

export function readPhotoUsage(): Promise<Usage> {
  return ask(http.GET('/api/v1/photos/usage'));
}

let map: Promise<PhotoMapSource> | undefined;

/** Asked once: it is a setting of the server. */
export function readMap(): Promise<PhotoMapSource> {
  map ??= ask(http.GET('/api/v1/photos/map')).catch((failure: unknown) => {
    map = undefined;
    throw failure;
  });
  return map;
}

/** Whether the library has these files, in their order. */
export async function askKnown(files: Signature[]): Promise<Known[]> {
  if (!files.length) return [];
  return (await ask(http.POST('/api/v1/photos/known', { body: { files } }))).files;
}

/** The photos of these days, both included, the newest first. */
export async function readPhotos(from: string, to: string, shared: boolean): Promise<Photo[]> {
  const photos: Photo[] = [];
  let cursor: string | null = null;
  do {
    const query = { from, to, shared, limit: PAGE, ...(cursor !== null && { cursor }) };
    const page: components['schemas']['PhotoColumns'] = await ask(
      http.GET('/api/v1/photos', { params: { query } }),
    );
    photos.push(...fromColumns(page));
    cursor = page.cursor;
  } while (cursor !== null);
  return photos;
}

/** The newest ones. */
export async function readLatest(limit: number): Promise<Photo[]> {
  const query = { shared: false, limit };
  return fromColumns(await ask(http.GET('/api/v1/photos', { params: { query } })));
}

export async function readUndated(cursor: string | null, limit = PAGE): Promise<PhotoPage> {
  const query = { limit, ...(cursor !== null && { cursor }) };
  const page = await ask(http.GET('/api/v1/photos/undated', { params: { query } }));
  return { photos: fromColumns(page), cursor: page.cursor };
}

export async function readBin(cursor: string | null): Promise<PhotoPage> {
  const query = { limit: PAGE, ...(cursor !== null && { cursor }) };
  const page = await ask(http.GET('/api/v1/photos/bin', { params: { query } }));
  return { photos: fromColumns(page), cursor: page.cursor };
}

/** A page may be empty though there is more. */
export async function searchPhotos(search: PhotoSearch, cursor: string | null): Promise<PhotoPage> {
  const query = { ...search, limit: PAGE, ...(cursor !== null && { cursor }) };
  const found = await ask(http.GET('/api/v1/photos/search', { params: { query } }));
  return { photos: fromColumns(found.photos), cursor: found.cursor };
}

export async function readDuplicates(
  cursor: string | null,
): Promise<{ items: DuplicateGroup[]; cursor: string | null }> {
  const query = { limit: 50, ...(cursor !== null && { cursor }) };
  const { groups, cursor: next } = await ask(http.GET('/api/v1/photos/duplicates', { params: { query } }));
  return { items: groups, cursor: next };
}

/** The others go into the bin. */
export async function keepOfGroup(groupId: string, keep: string[]): Promise<void> {
  const params = { path: { group_id: groupId } };
  await ask(http.POST('/api/v1/photos/duplicates/{group_id}/keep', { params, body: { keep } }));
}

/** They are different photos, and are not listed again. */
export async function dismissGroup(groupId: string): Promise<void> {
  const params = { path: { group_id: groupId } };
  await ask(http.DELETE('/api/v1/photos/duplicates/{group_id}', { params }));
}

export function readDetails({ owner, id }: Photo): Promise<PhotoDetails> {
  return ask(http.GET('/api/v1/photos/{owner}/{media_id}', which(owner, id)));
}

/** Puts photos of one's own together, so that one link leads to them. */
export async function choosePhotos(medias: string[]): Promise<string> {
  return (await ask(http.POST('/api/v1/photos/choices', { body: { medias } }))).choice_id;
}

/** Copies photos of one's own, as others get them, into a folder of the shelf; answers the ids there. */
export async function copyOntoShelf(medias: readonly string[], folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const part of inParts(medias, COPIED_AT_ONCE)) {
    const asked = { body: { medias: part, folder }, fetch: patiently };
    files.push(...(await ask(http.POST('/api/v1/photos/copies', asked))).files);
  }
  return files;
}

export async function setFavourite({ owner, id }: Photo, favourite: boolean): Promise<void> {
  await ask(http.PATCH('/api/v1/photos/{owner}/{media_id}', { ...which(owner, id), body: { favourite } }));
}

export function setTime({ owner, id }: Photo, time: string): Promise<PhotoDetails> {
  const body = { local_time: time };
  return ask(http.PATCH('/api/v1/photos/{owner}/{media_id}', { ...which(owner, id), body }));
}

/** Moves it into the bin. */
export async function binPhoto({ owner, id }: Photo): Promise<void> {
  await ask(http.DELETE('/api/v1/photos/{owner}/{media_id}', which(owner, id)));
}

const AT_ONCE = 100;

export async function restorePhotos(ids: readonly string[]): Promise<void> {
  for (const some of chunks(ids)) await ask(http.POST('/api/v1/photos/bin/restore', { body: { ids: some } }));
}

/** Deletes these for good; all that are in the bin, if none are named. */
export async function destroyPhotos(ids?: readonly string[]): Promise<void> {
  if (!ids) await ask(http.DELETE('/api/v1/photos/bin', { params: { query: {} } }));
  else
    for (const id of chunks(ids)) await ask(http.DELETE('/api/v1/photos/bin', { params: { query: { id } } }));
}

function chunks(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, at) =>
    ids.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
  );
}

function which(owner: string, id: string): { params: { path: { owner: string; media_id: string } } } {
  return { params: { path: { owner, media_id: id } } };
}
