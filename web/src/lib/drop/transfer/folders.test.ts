import { describe, expect, it } from 'vitest';
import { concat, type Bytes } from '../crypto/bytes';
import { NotAsOffered, Tampered } from '../crypto/errors';
import { contentOfFile, contentOfFolder, contentOfText } from './content';
import { FolderArchive } from './folderArchive';
import { FolderReader } from './folders';
import { cleanName, cleanPath, keptPath, UsedPaths } from './names';

/** What a reader says of bytes that come in pieces of so many. */
function readIn(bytes: Bytes, pieces: number): string[] {
  const said: string[] = [];
  const reader = new FolderReader({
    begin: ({ path, size, kind }) => said.push(`${kind} ${path} ${size}: `),
    add: (more) => (said[said.length - 1] += new TextDecoder().decode(more)),
    end: () => (said[said.length - 1] += '.'),
  });
  for (let at = 0; at < bytes.length; at += pieces) reader.feed(bytes.subarray(at, at + pieces));
  reader.finish();
  return said;
}

function thing(header: unknown, content = ''): Bytes {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, text.length);
  return concat(length, text, new TextEncoder().encode(content));
}

describe('a folder on its way', () => {
  const picked = [
    { file: new File(['two'], 'b.txt'), path: 'notes/b.txt' },
    { file: new File([], 'empty'), path: 'notes/inside/empty' },
    { file: new File(['one'], 'a.txt'), path: 'notes/a.txt' },
  ];

  it('has everything inside in the order of the paths, however it is cut', async () => {
    const { bytes } = contentOfFolder('notes', picked);
    const whole = new Uint8Array(await bytes.arrayBuffer());
    const expected = ['file a.txt 3: one.', 'file b.txt 3: two.', 'file inside/empty 0: .'];
    for (const pieces of [1, 2, 3, 7, 1000]) expect(readIn(whole, pieces)).toEqual(expected);
  });

  it('is announced with the size and number of what is inside', () => {
    const { description, bytes } = contentOfFolder('notes', picked);
    expect(description).toMatchObject({ kind: 'folder', name: 'notes', size: 6, files: 3 });
    expect(bytes.size).toBeGreaterThan(6);
  });

  it('tells of folders that are empty', () => {
    expect(readIn(thing({ path: 'a', size: 0, modified: 'x', kind: 'folder' }), 5)).toEqual([
      'folder a 0: .',
    ]);
  });

  it.each([
    ['a header without an end', thing('{')],
    ['a header that lacks its path', thing({ size: 1, kind: 'file' }, 'x')],
    ['a size below zero', thing({ path: 'a', size: -1, kind: 'file' })],
    ['another kind of thing', thing({ path: 'a', size: 0, kind: 'link' })],
    ['a file that is cut off', thing({ path: 'a', size: 3, kind: 'file' }, 'ab')],
    ['a header that never ends', Uint8Array.of(0xff, 0xff, 0xff, 0xff)],
    ['half a length', Uint8Array.of(0, 0)],
  ])('is refused with %s', (_, bytes) => {
    expect(() => readIn(bytes, 1000)).toThrow(Tampered);
  });
});

describe('what is announced', () => {
  it('of a file is what the system says of it', () => {
    const file = new File(['hello'], 'a.txt', { type: 'text/plain', lastModified: 0 });
    const modified = '1970-01-01T00:00:00.000Z';
    expect(contentOfFile(file).description).toEqual({
      ...{ kind: 'file', name: 'a.txt', size: 5, files: 1, modified, type: 'text/plain' },
    });
  });

  it('of a text counts bytes, not letters', () => {
    expect(contentOfText('樂譜', 'note').description).toMatchObject({ kind: 'text', size: 6 });
  });
});

describe('names that somebody else chose', () => {
  it.each([
    ['../../.ssh/authorized_keys', 'ssh/authorized_keys'],
    ['/etc/passwd', 'etc/passwd'],
    ['C:\\Windows\\system.ini', 'C_/Windows/system.ini'],
    ['a\u0000b\u001b[31m', 'ab[31m'],
    ['photo\u202egnp.exe', 'photognp.exe'],
    ['CON', '_CON'],
    ['nul.txt', '_nul.txt'],
    ['ends with dots. . .', 'ends with dots'],
    ['./././', ''],
    ['樂譜/👩‍👩‍👧 family.jpg', '樂譜/👩‍👩‍👧 family.jpg'],
  ])('%j is written as %j', (written, clean) => {
    expect(cleanPath(written).join('/')).toBe(clean);
  });

  it('are cut without losing their extension', () => {
    const name = cleanName(`${'長'.repeat(300)}.tar.gz`);
    expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(200);
    expect(name).toMatch(/^長+.*\.gz$/);
  });

  it('have one where nothing is left', () => {
    expect(cleanName('..')).toBe('file');
  });

  it('are told apart when two become the same', () => {
    const used = new UsedPaths();
    const paths = ['a/b.txt', 'A/B.txt', 'a/b.txt'];
    expect(paths.map((path) => used.unused(path))).toEqual(['a/b.txt', 'A/B.txt', 'a/b (1).txt']);
  });

  it.each([
    ['.git/hooks/pre-commit', '.git/hooks/pre-commit'],
    ['CON/a:b?.txt', 'CON/a:b?.txt'],
    ['e\u0301/trail. ', 'e\u0301/trail. '],
    ['../../.ssh/keys', '.ssh/keys'],
    ['..\\..\\evil', '.._.._evil'],
    ['/./a\u0000b', 'a_b'],
    [`${'a'.repeat(300)}.txt`, `${'a'.repeat(251)}.txt`],
  ])('%j stands in an archive as %j', (written, kept) => {
    expect(keptPath(written).join('/')).toBe(kept);
  });
});

function archiveOf(offered: { name?: string; size: number; files: number }): FolderArchive {
  return new FolderArchive({ name: 'notes', modified: null, ...offered });
}

describe('an archive of a folder', () => {
  const [one, two] = [
    thing({ path: 'a', size: 3, kind: 'file' }, 'one'),
    thing({ path: 'b', size: 3, kind: 'file' }, 'two'),
  ];
  const folder = concat(one, two);

  it('counts what it wrote, and refuses what is more or less than was announced', () => {
    const archive = archiveOf({ size: 6, files: 2 });
    archive.feed(folder);
    archive.finish();
    expect(archive.written).toEqual({ size: 6, files: 2 });
    expect(archive.renamed).toEqual([]);
    expect(() => archiveOf({ size: 6, files: 1 }).feed(folder)).toThrow(NotAsOffered);
    expect(() => archiveOf({ size: 5, files: 2 }).feed(folder)).toThrow(NotAsOffered);
    const short = archiveOf({ size: 9, files: 3 });
    short.feed(folder);
    expect(() => short.finish()).toThrow(NotAsOffered);
  });

  it('tells each name that it could not keep', () => {
    const archive = archiveOf({ name: '.CON', size: 0, files: 4 });
    const paths = ['README', 'readme', '.env', 'back\\slash', 'README'];
    archive.feed(concat(...paths.map((path) => thing({ path, size: 0, kind: 'folder' }))));
    expect(archive.renamed).toEqual([
      { called: '.CON', name: '_CON' },
      { called: 'back\\slash', name: 'back_slash' },
      { called: 'README', name: 'README (1)' },
    ]);
    expect(() => archive.feed(thing({ path: 'a/'.repeat(9000), size: 0, kind: 'folder' }))).toThrow(Tampered);
  });
});
