// The API calls of a visitor of a link: look at it, enter it, and the addresses of its files.
import { ask, http } from '$lib/api/client';
import { RepeatKeys } from '$lib/api/repeatKeys';
import type { components } from '$lib/api/schema';
import type { Entry } from '$lib/files/entries';

export type Landing = components['schemas']['LandingView'];
export type LinkedFile = components['schemas']['LinkedFileView'];
export type LinkedFiles = components['schemas']['LinkedFileList'];
export type Entered = components['schemas']['EnteredView'];

const repeated = new RepeatKeys();

/** Why a link can lead nowhere; each has a page of its own. */
export const DEAD_ENDS = [
  'link-unknown',
  'link-paused',
  'link-expired',
  'link-used-up',
  'link-revoked',
  'link-target-gone',
] as const;
export type DeadEnd = (typeof DEAD_ENDS)[number];

export function isDeadEnd(slug: string | undefined): slug is DeadEnd {
  return DEAD_ENDS.includes(slug as DeadEnd);
}

/** Counts nothing. */
export function look(token: string, pass: string): Promise<Landing> {
  return ask(http.GET('/api/v1/open/{token}', { params: { path: { token }, query: shown(pass) } }));
}

/** Counts as one opening, also if the answer is lost and it is asked again. */
export function enter(token: string, password: string): Promise<Entered> {
  // The server keeps its host and nothing else.
  const referrer = document.referrer.slice(0, 1000);
  const body = { ...(password && { password }), ...(referrer && { referrer }) };
  return repeated.once([token], (key) => {
    const params = { path: { token }, header: { 'Idempotency-Key': key } };
    return ask(http.POST('/api/v1/open/{token}/enter', { params, body }));
  });
}

export function readFiles(token: string, pass: string, cursor: string | null): Promise<LinkedFiles> {
  const query = { ...shown(pass), ...(cursor !== null && { cursor }) };
  return ask(http.GET('/api/v1/open/{token}/files', { params: { path: { token }, query } }));
}

export function archivePath(token: string, pass: string): string {
  return `${base(token)}/archive${passQuery(pass)}`;
}

/** The picture of a link for whoever has not entered it. */
export function coverPath(token: string, version: string): string {
  return `${base(token)}/cover/${version}`;
}

/** A file as the shelf shows its own, with where its bytes are and the pass that opens them. */
export function entryOf(token: string, pass: string, { kind }: Landing, file: LinkedFile): Entry {
  return {
    kind: 'file',
    id: file.file_id,
    name: file.name,
    folder_id: '',
    size_bytes: file.size_bytes,
    content_type: file.content_type,
    sha256: null,
    created_at: '',
    modified_at: file.modified_at,
    executable: file.executable,
    received: false,
    expires_at: null,
    previewable: file.preview,
    picture: file.picture,
    at: kind === 'file' ? base(token) : fileAddress(token, file.file_id),
    picturesAt: fileAddress(token, file.file_id),
    query: passQuery(pass),
  };
}

/** The same file as a part of all: those together are one download. */
export function asOneOfAll(entry: Entry): Entry {
  return { ...entry, query: entry.query ? `${entry.query}&whole=true` : '?whole=true' };
}

/** The folder that a file is in below what the link is for. */
export function folderOf({ path }: LinkedFile): string {
  return path.split('/').slice(0, -1).join(' / ');
}

/** Whether it is likely that a browser can show it; for sure that is known once one is in. */
export function isViewable(contentType: string | null): boolean {
  return /^(image|audio|video|text)\/|^application\/pdf$/.test(contentType ?? '');
}

/** Whether it could be looked at, but only be downloaded: what is shown can be kept without being counted. */
export function isHeldBack({ kind, downloads_left, content_type }: Landing): boolean {
  return downloads_left !== null && (kind === 'folder' || kind === 'selection' || isViewable(content_type));
}

export function fileAddress(token: string, fileId: string): string {
  return `${base(token)}/files/${encodeURIComponent(fileId)}`;
}

function base(token: string): string {
  return `/api/v1/open/${encodeURIComponent(token)}`;
}

function shown(pass: string): { pass?: string } {
  return pass ? { pass } : {};
}

/** What has to be said wherever the bytes of files are. */
export function passQuery(pass: string): string {
  return pass ? `?${new URLSearchParams({ pass })}` : '';
}
