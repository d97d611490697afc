// The API calls for albums, and their types.
import { ask, http } from '$lib/api/client';
import type { components } from '$lib/api/schema';
import { fromColumns } from './photo';
import type { PhotoPage } from './photoCalls';

export type Album = components['schemas']['AlbumView'];
export type Act = components['schemas']['ActView'];
export type Acted = components['schemas']['ActedView'];
export type Plan = components['schemas']['PlanView'];
export type Change = components['schemas']['PlanBody']['change'];
export type AlbumShare = components['schemas']['AlbumShareView'];
export type Role = AlbumShare['role'];
export type AlbumDraft = { name: string; start: string; end: string };

const PAGE = 1000;

export async function readAlbums(): Promise<Album[]> {
  return (await ask(http.GET('/api/v1/albums', { params: { query: {} } }))).albums;
}

export async function readOwnAlbums(): Promise<Album[]> {
  return (await ask(http.GET('/api/v1/albums', { params: { query: { mine: true } } }))).albums;
}

export function readAlbum(albumId: string): Promise<Album> {
  return ask(http.GET('/api/v1/albums/{album_id}', which(albumId)));
}

export async function readAlbumPhotos(albumId: string, cursor: string | null): Promise<PhotoPage> {
  const query = { limit: PAGE, ...(cursor !== null && { cursor }) };
  const params = { path: { album_id: albumId }, query };
  const page = await ask(http.GET('/api/v1/albums/{album_id}/medias', { params }));
  return { photos: fromColumns(page), cursor: page.cursor };
}

/** What a change would do: which photos would move, and who would newly see them. */
export function planChange(change: Change): Promise<Plan> {
  return ask(http.POST('/api/v1/albums/plan', { body: { change } }));
}

export function createAlbum(draft: AlbumDraft, key: string): Promise<Acted> {
  const params = { header: { 'Idempotency-Key': key } };
  return ask(http.POST('/api/v1/albums', { params, body: draft }));
}

export function changeAlbum(
  albumId: string,
  body: Partial<AlbumDraft> & { folder?: string; cover?: string; with_location?: boolean },
  quarters = false,
): Promise<Acted> {
  const params = { path: { album_id: albumId }, query: { quarters } };
  return ask(http.PATCH('/api/v1/albums/{album_id}', { params, body }));
}

export function deleteAlbum(albumId: string, quarters: boolean): Promise<Acted> {
  const params = { path: { album_id: albumId }, query: { quarters } };
  return ask(http.DELETE('/api/v1/albums/{album_id}', { params }));
}

export function undoAct(actId: string, quarters: boolean): Promise<Acted> {
  const params = { path: { act_id: actId } };
  return ask(http.POST('/api/v1/albums/acts/{act_id}/undo', { params, body: { quarters } }));
}

/** Changes of the last 30 days, the last first. */
export async function readActs(cursor: string | null): Promise<{ items: Act[]; cursor: string | null }> {
  const query = { limit: 50, ...(cursor !== null && { cursor }) };
  const { acts, cursor: next } = await ask(http.GET('/api/v1/albums/acts', { params: { query } }));
  return { items: acts, cursor: next };
}

export async function readShares(albumId: string): Promise<AlbumShare[]> {
  return (await ask(http.GET('/api/v1/albums/{album_id}/shares', which(albumId)))).shares;
}

export function shareAlbum(albumId: string, email: string, role: Role): Promise<AlbumShare> {
  const params = { path: { album_id: albumId, email } };
  return ask(http.PUT('/api/v1/albums/{album_id}/shares/{email}', { params, body: { role } }));
}

export async function stopSharing(albumId: string, email: string): Promise<void> {
  const params = { path: { album_id: albumId, email } };
  await ask(http.DELETE('/api/v1/albums/{album_id}/shares/{email}', { params }));
}

export async function leaveAlbum(albumId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/albums/{album_id}/membership', which(albumId)));
}

export async function pinPhoto(albumId: string, mediaId: string): Promise<void> {
  const params = { path: { album_id: albumId, media_id: mediaId } };
  await ask(http.PUT('/api/v1/albums/{album_id}/pins/{media_id}', { params }));
}

export async function unpinPhoto(albumId: string, mediaId: string): Promise<void> {
  const params = { path: { album_id: albumId, media_id: mediaId } };
  await ask(http.DELETE('/api/v1/albums/{album_id}/pins/{media_id}', { params }));
}

function which(albumId: string): { params: { path: { album_id: string } } } {
  return { params: { path: { album_id: albumId } } };
}
