// What stands on the shelf, as the server tells it, and everything that can be asked of the server about it.
import { ask, http, Problem } from '$lib/api/client';
import type { paths } from '$lib/api/schema';

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

type Contents = Answer<'/api/v1/shelf/entries'>;
/**
 * `at` is where its bytes are, for what is shown in the same way but stands elsewhere, such as in a room; `query` is what
 * has to be said there, such as a pass.
 */
export type Entry = Contents['entries'][number] & { at?: string; query?: string };
export type Place = Contents['folder'];
export type FoundEntry = Answer<'/api/v1/shelf/search'>['entries'][number];
export type BinnedEntry = Answer<'/api/v1/shelf/bin'>['entries'][number];
export type Usage = Answer<'/api/v1/shelf/usage'>;
export type Sort = 'name' | 'newest';
export type Cursor = string | null;
export type Slice<Item> = { entries: Item[]; cursor: Cursor };

const PAGE = 100;

export function readFolder(folder: string, sort: Sort, cursor: Cursor): Promise<Contents> {
  return ask(http.GET('/api/v1/shelf/entries', { params: { query: { folder, sort, ...paging(cursor) } } }));
}

export function readEntry(fileId: string): Promise<Entry> {
  return ask(http.GET('/api/v1/shelf/files/{file_id}', { params: { path: { file_id: fileId } } }));
}

export function search(q: string, cursor: Cursor): Promise<Slice<FoundEntry>> {
  return ask(http.GET('/api/v1/shelf/search', { params: { query: { q, ...paging(cursor) } } }));
}

export function readBin(cursor: Cursor): Promise<Slice<BinnedEntry>> {
  return ask(http.GET('/api/v1/shelf/bin', { params: { query: paging(cursor) } }));
}

export function readUsage(): Promise<Usage> {
  return ask(http.GET('/api/v1/shelf/usage'));
}

export function makeFolder(name: string, within: string): Promise<Entry> {
  return ask(http.POST('/api/v1/shelf/folders', { body: { name, folder_id: within } }));
}

/** Give it another name, or put it into another folder. */
export function change({ kind, id }: Entry, body: { name?: string; folder_id?: string }): Promise<Entry> {
  return kind === 'folder'
    ? ask(http.PATCH('/api/v1/shelf/folders/{folder_id}', { params: { path: { folder_id: id } }, body }))
    : ask(http.PATCH('/api/v1/shelf/files/{file_id}', { params: { path: { file_id: id } }, body }));
}

/** When a file goes by itself; null keeps it for good. */
export function keepUntil(file: Entry, expires_at: string | null): Promise<Entry> {
  return ask(
    http.PATCH('/api/v1/shelf/files/{file_id}', {
      params: { path: { file_id: file.id } },
      body: { expires_at },
    }),
  );
}

/** Into the bin. */
export async function remove({ kind, id }: Entry): Promise<void> {
  await unlessGone(
    kind === 'folder'
      ? ask(http.DELETE('/api/v1/shelf/folders/{folder_id}', { params: { path: { folder_id: id } } }))
      : ask(http.DELETE('/api/v1/shelf/files/{file_id}', { params: { path: { file_id: id } } })),
  );
}

export function restore({ id }: Entry): Promise<Entry> {
  return ask(http.POST('/api/v1/shelf/bin/{entry_id}/restore', { params: { path: { entry_id: id } } }));
}

/** For good. */
export async function destroy({ id }: Entry): Promise<void> {
  await unlessGone(ask(http.DELETE('/api/v1/shelf/bin/{entry_id}', { params: { path: { entry_id: id } } })));
}

export async function emptyBin(): Promise<void> {
  await ask(http.DELETE('/api/v1/shelf/bin'));
}

/** The text of a file; of a long one, the server gives the beginning. */
export async function readText(entry: Entry): Promise<string> {
  const text: unknown = await ask(
    // Files of every place are read alike.
    http.GET(previewPath(entry) as '/api/v1/shelf/files/{file_id}/preview', {
      params: { path: { file_id: entry.id } },
      parseAs: 'text',
    }),
  );
  return String(text);
}

/** Frames, films and downloads cannot renew a session that has run out; asking this before does. */
export async function renewSession(): Promise<void> {
  await ask(http.GET('/api/v1/whoami'));
}

export function contentPath(entry: Entry): string {
  return `${addressOf(entry)}/content${entry.query ?? ''}`;
}

export function previewPath(entry: Entry): string {
  return `${addressOf(entry)}/preview${entry.query ?? ''}`;
}

/** One file as it is; anything else as an archive. */
export function downloadPath(entries: readonly Entry[]): string {
  const [first] = entries;
  if (first?.kind === 'file' && entries.length === 1) return contentPath(first);
  return `/api/v1/shelf/archive?${new URLSearchParams(entries.map(({ kind, id }) => [kind, id]))}`;
}

function addressOf({ id, at }: Entry): string {
  return at ?? `/api/v1/shelf/files/${id}`;
}

function paging(cursor: Cursor): { limit: number; cursor?: string } {
  return { limit: PAGE, ...(cursor !== null && { cursor }) };
}

/** Another tab was faster: it is gone, as was wanted. */
async function unlessGone(call: Promise<unknown>): Promise<void> {
  await call.catch((problem: unknown) => {
    if (!(problem instanceof Problem && problem.status === 404)) throw problem;
  });
}
