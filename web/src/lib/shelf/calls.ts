// What only the shelf's own pages ask of the server: search, usage, changes to entries, and the bin.
import type { Answer } from '$lib/api/answers';
import { ask, http, Problem } from '$lib/api/client';
import { paging, type Cursor, type Entry, type Slice } from '$lib/files/entries';

export type FoundEntry = Answer<'/api/v1/shelf/search'>['entries'][number];
export type BinnedEntry = Answer<'/api/v1/shelf/bin'>['entries'][number];
export type Usage = Answer<'/api/v1/shelf/usage'>;

export function search(q: string, cursor: Cursor): Promise<Slice<FoundEntry>> {
  return ask(http.GET('/api/v1/shelf/search', { params: { query: { q, ...paging(cursor) } } }));
}

export function readUsage(): Promise<Usage> {
  return ask(http.GET('/api/v1/shelf/usage'));
}

/** Give it another name, or put it into another folder, if it is still as it was seen. */
export function change(entry: Entry, body: { name?: string; folder_id?: string }): Promise<Entry> {
  const { kind, id } = entry;
  const header = asSeen(entry);
  return kind === 'folder'
    ? ask(
        http.PATCH('/api/v1/shelf/folders/{folder_id}', {
          params: { path: { folder_id: id }, header },
          body,
        }),
      )
    : ask(http.PATCH('/api/v1/shelf/files/{file_id}', { params: { path: { file_id: id }, header }, body }));
}

function asSeen({ etag }: Entry): { 'If-Match'?: string } {
  return etag ? { 'If-Match': etag } : {};
}

/** Sets when a file expires; null keeps it for good. */
export function keepUntil(file: Entry, expires_at: string | null): Promise<Entry> {
  return ask(
    http.PATCH('/api/v1/shelf/files/{file_id}', {
      params: { path: { file_id: file.id }, header: asSeen(file) },
      body: { expires_at },
    }),
  );
}

/** Into the bin. */
export async function remove(entry: Entry): Promise<void> {
  const { kind, id } = entry;
  const header = asSeen(entry);
  await unlessGone(
    kind === 'folder'
      ? ask(http.DELETE('/api/v1/shelf/folders/{folder_id}', { params: { path: { folder_id: id }, header } }))
      : ask(http.DELETE('/api/v1/shelf/files/{file_id}', { params: { path: { file_id: id }, header } })),
  );
}

export function readBin(cursor: Cursor): Promise<Slice<BinnedEntry>> {
  return ask(http.GET('/api/v1/shelf/bin', { params: { query: paging(cursor) } }));
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

/** Another tab was faster: it is gone already. */
async function unlessGone(call: Promise<unknown>): Promise<void> {
  await call.catch((problem: unknown) => {
    if (!(problem instanceof Problem && problem.status === 404)) throw problem;
  });
}
