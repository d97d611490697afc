import { describe, expect, it } from 'vitest';
import { fromClipboard, fromDrop, walk, type Found } from './pickedFiles';

type Tree = { [name: string]: Tree | string | null };

/** A folder as browsers show it: at most two entries at a time; `null` stands for a file that cannot be opened. */
function folder(name: string, tree: Tree, parent = ''): FileSystemDirectoryEntry {
  const fullPath = `${parent}/${name}`;
  const entries = Object.entries(tree).map(([child, content]) =>
    typeof content === 'object' && content !== null
      ? folder(child, content, fullPath)
      : {
          isDirectory: false,
          fullPath: `${fullPath}/${child}`,
          file: (resolve: (file: File) => void, reject: (error: Error) => void) =>
            content === null ? reject(new Error('gone')) : resolve(new File([content], child)),
        },
  );
  return {
    isDirectory: true,
    fullPath,
    createReader: () => ({
      readEntries: (resolve: (some: unknown[]) => void) => resolve(entries.splice(0, 2)),
    }),
  } as unknown as FileSystemDirectoryEntry;
}

describe('a folder', () => {
  it('is walked to its last file, each with its path', async () => {
    const found: Found = { picked: [], hollow: [], unreadable: 0 };
    await walk(
      folder('trip', { 'a.txt': '1', deep: { 'b.txt': '2', deeper: { 'c.txt': '3' } }, 'd.txt': '4' }),
      found,
    );
    expect(found.picked.map(({ path }) => path)).toEqual([
      'trip/a.txt',
      'trip/deep/b.txt',
      'trip/deep/deeper/c.txt',
      'trip/d.txt',
    ]);
  });

  it('tells of folders in it that hold nothing', async () => {
    const found: Found = { picked: [], hollow: [], unreadable: 0 };
    await walk(folder('trip', { none: {}, deep: { nothing: {} }, 'a.txt': '1', 'b.txt': '2' }), found);
    expect(found.hollow).toEqual(['trip/none', 'trip/deep/nothing']);
  });

  it('that holds something unreadable gives the rest, and says so', async () => {
    const found: Found = { picked: [], hollow: [], unreadable: 0 };
    await walk(folder('trip', { 'a.txt': '1', 'b.txt': null, 'c.txt': '3' }), found);
    expect(found.picked).toHaveLength(2);
    expect(found.unreadable).toBe(1);
  });
});

describe('a drop', () => {
  it('gives files and the files of folders, and no text', async () => {
    const items = [
      { kind: 'string', webkitGetAsEntry: () => null, getAsFile: () => null },
      { kind: 'file', webkitGetAsEntry: () => null, getAsFile: () => new File(['x'], 'x.txt') },
      {
        kind: 'file',
        webkitGetAsEntry: () => folder('trip', { 'a.txt': '1' }),
        getAsFile: () => new File([], 'trip'),
      },
    ];
    const found = await fromDrop({ items } as unknown as DataTransfer);
    expect(found.picked.map(({ file, path }) => path || file.name)).toEqual(['x.txt', 'trip/a.txt']);
  });
});

describe('the clipboard', () => {
  it('gives a screenshot a name, and leaves files theirs', () => {
    const files = [new File(['x'], 'image.png', { type: 'image/png' }), new File(['y'], 'notes.txt')];
    const picked = fromClipboard({ files } as unknown as DataTransfer, (extension) => `now.${extension}`);
    expect(picked.map(({ file }) => file.name)).toEqual(['now.png', 'notes.txt']);
    expect(picked[0]?.file.type).toBe('image/png');
  });
});
