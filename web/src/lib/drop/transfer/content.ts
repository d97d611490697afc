// What is handed over as one blob that nobody has read yet: a file, a text, or a folder laid out one thing after another.
import type { Picked } from '$lib/files/pickedFiles';
import type { Announced } from './messages';

/** What is announced, and the bytes of it as they travel; a folder's are more than its `size`. */
export type Content = { description: Announced; bytes: Blob };

export function contentOfFile(file: File): Content {
  const description = {
    kind: 'file' as const,
    name: file.name,
    size: file.size,
    files: 1,
    modified: new Date(file.lastModified).toISOString(),
    type: file.type || 'application/octet-stream',
  };
  return { description, bytes: file };
}

export function contentOfText(text: string, name: string): Content {
  const bytes = new Blob([text]);
  const description = {
    kind: 'text' as const,
    name,
    size: bytes.size,
    files: 1,
    modified: null,
    type: 'text/plain',
  };
  return { description, bytes };
}

/**
 * Paths stand as they were picked, with the folder's own name in front, which is not part of what is inside; `hollow` are
 * those of folders with nothing in them.
 */
export function contentOfFolder(
  name: string,
  picked: readonly Picked[],
  hollow: readonly string[] = [],
): Content {
  const inside = [
    ...picked.map(({ file, path }) => thing(within(path || file.name), 'file', file)),
    ...hollow.map((path) => thing(within(path), 'folder', new File([], ''))),
  ].sort((one, other) => (one.path < other.path ? -1 : 1));
  const bytes = new Blob(inside.flatMap(({ header, file }) => [header, file]));
  const size = picked.reduce((sum, { file }) => sum + file.size, 0);
  const description = {
    kind: 'folder' as const,
    name,
    size,
    files: picked.length,
    modified: null,
    type: 'inode/directory',
  };
  return { description, bytes };
}

function within(path: string): string {
  return path.replace(/^[^/]*\//, '');
}

type Thing = { path: string; header: Uint8Array<ArrayBuffer>; file: File };

function thing(path: string, kind: 'file' | 'folder', file: File): Thing {
  const modified = new Date(file.lastModified).toISOString();
  const text = new TextEncoder().encode(JSON.stringify({ path, size: file.size, modified, kind }));
  const header = new Uint8Array(4 + text.length);
  new DataView(header.buffer).setUint32(0, text.length);
  header.set(text, 4);
  return { path, header, file };
}
