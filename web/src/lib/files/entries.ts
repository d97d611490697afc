// Files and folders in the one shape in which every page shows them, where their bytes are, and how the shelf is read.
import type { Answer } from '$lib/api/answers';
import { ask, http } from '$lib/api/client';
import { RepeatKeys } from '$lib/api/repeatKeys';
import { inParts } from '$lib/shell/browserDownload';

type Contents = Answer<'/api/v1/shelf/entries'>;
/**
 * `at` is where its bytes are, for what is shown in the same way but stands elsewhere, such as in a room, and `picturesAt`
 * where its pictures are, if that is another place; `query` is what has to be said there, such as a pass.
 */
export type Entry = Omit<Contents['entries'][number], 'etag'> & {
  /** The state that was seen, of what stands on the shelf. */
  etag?: string;
  at?: string;
  picturesAt?: string;
  query?: string;
};
/** What is needed to show the thumbnail of an entry. */
export type Pictured = Pick<
  Entry,
  'kind' | 'id' | 'previewable' | 'content_type' | 'size_bytes' | 'picture'
> &
  Pick<Entry, 'at' | 'picturesAt' | 'query'>;
export type Place = Contents['folder'];
export type Sort = 'name' | 'newest';
/** How entries are shown. */
export type View = 'list' | 'grid';
export type Cursor = string | null;
export type Slice<Item> = { entries: Item[]; cursor: Cursor };

const PAGE = 100;
const repeated = new RepeatKeys();

export function readFolder(folder: string, sort: Sort, cursor: Cursor, limit = PAGE): Promise<Contents> {
  const query = { folder, sort, ...paging(cursor), limit };
  return ask(http.GET('/api/v1/shelf/entries', { params: { query } }));
}

export function readEntry(fileId: string): Promise<Entry> {
  return ask(http.GET('/api/v1/shelf/files/{file_id}', { params: { path: { file_id: fileId } } }));
}

/** Sorted by name, folders come first: the pages after the last folder need not be read. */
export async function foldersIn(folder: string): Promise<Entry[]> {
  const found: Entry[] = [];
  let cursor: Cursor = null;
  do {
    const page = await readFolder(folder, 'name', cursor);
    const folders = page.entries.filter(({ kind }) => kind === 'folder');
    found.push(...folders);
    cursor = folders.length === page.entries.length ? page.cursor : null;
  } while (cursor !== null);
  return found;
}

export function makeFolder(name: string, within: string): Promise<Entry> {
  const body = { name, folder_id: within };
  return repeated.once(body, (key) =>
    ask(http.POST('/api/v1/shelf/folders', { params: { header: { 'Idempotency-Key': key } }, body })),
  );
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

export function contentPath(entry: Entry): string {
  return `${addressOf(entry)}/content${entry.query ?? ''}`;
}

/** A size of its picture, if it has one. The browser keeps what it finds there. */
export function picturePath(entry: Pictured, size: 'grid' | 'preview'): string | undefined {
  if (!entry.picture) return undefined;
  const place = entry.picturesAt ?? addressOf(entry);
  return `${place}/picture/${size}/${entry.picture.version}${entry.query ?? ''}`;
}

export function previewPath(entry: Pictured): string {
  return `${addressOf(entry)}/preview${entry.query ?? ''}`;
}

/** One file as it is; anything else as an archive, or as several if it is too much for one address. */
export function downloadPaths(entries: readonly Entry[]): string[] {
  const [first] = entries;
  if (first?.kind === 'file' && entries.length === 1) return [contentPath(first)];
  return inParts(entries).map(
    (part) => `/api/v1/shelf/archive?${new URLSearchParams(part.map(({ kind, id }) => [kind, id]))}`,
  );
}

function addressOf({ id, at }: Pictured): string {
  return at ?? `/api/v1/shelf/files/${id}`;
}

export function paging(cursor: Cursor): { limit: number; cursor?: string } {
  return { limit: PAGE, ...(cursor !== null && { cursor }) };
}
