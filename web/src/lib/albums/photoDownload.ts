// Downloads of photos: one as its original, several as a zip file, or on a phone one by one.
import { renewSession } from '$lib/api/sessionRenewal';
import { fetchOne, isOneByOne, saveOneByOne } from '$lib/files/savedOneByOne';
import { inParts, saveEach } from '$lib/shell/browserDownload';
import { forOthers } from './albumFiles';
import { contentPath, type Photo } from './photo';

// Enough to know whether a phone keeps them among its photos.
const TYPES = { IMAGE: 'image/*', VIDEO: 'video/*', OTHER: '' } as const;
// As many as fit into the address of one archive.
const IN_ARCHIVE = 100;
// Browsers hold them whole, and share sheets choke on many.
const MOST_FETCHED = 25;

/** The addresses to save: an archive holds photos of one album, or of the caller's own library. */
export function addressesOf(photos: readonly Photo[], me: string | undefined, albumId?: string): string[] {
  if (photos.length === 1 && photos[0]) return [contentPath(photos[0])];
  const isTogether = (photo: Photo): boolean => albumId !== undefined || photo.owner === me;
  const ids = photos.filter(isTogether).map(({ id }) => id);
  const archives = inParts(ids, IN_ARCHIVE).map((part) => archivePath(part, albumId));
  return [...archives, ...photos.filter((photo) => !isTogether(photo)).map(contentPath)];
}

export async function savePhotos(
  photos: readonly Photo[],
  me: string | undefined,
  albumId?: string,
): Promise<void> {
  if (!isOneByOne(photos.length)) return saveEach(addressesOf(photos, me, albumId));
  await saveOneByOne(photos.map((photo) => ({ address: contentPath(photo), type: TYPES[photo.type] })));
}

/** Few enough photos of one's own as files of this device, as others get them. Films are too large. */
export function fetchOf(photos: readonly Photo[]): (() => Promise<File[]>) | undefined {
  if (photos.length > MOST_FETCHED || photos.some(({ type }) => type !== 'IMAGE')) return undefined;
  return async () => {
    await renewSession();
    return Promise.all(photos.map((photo) => fetchOne({ address: forOthers(photo), type: TYPES.IMAGE })));
  };
}

/** Without ids, all of an album. */
export function archivePath(ids: readonly string[], albumId?: string): string {
  const base = albumId === undefined ? '/api/v1/photos' : `/api/v1/albums/${encodeURIComponent(albumId)}`;
  const query = new URLSearchParams(ids.map((id) => ['media', id]));
  return `${base}/archive${query.size ? `?${query}` : ''}`;
}
