import { describe, expect, it } from 'vitest';
import { contentOfWords, contentsOf } from './pickedContents';

function picked(path: string) {
  return { file: new File(['abc'], path.split('/').at(-1) ?? ''), path: path.includes('/') ? path : '' };
}

describe('what is handed over', () => {
  it('is each file for itself, and each folder as one', () => {
    const contents = contentsOf(['a.txt', 'photos/1.jpg', 'b.txt', 'photos/deep/2.jpg', 'x/y'].map(picked));
    expect(contents.map(({ description: { kind, name, files, size } }) => [kind, name, files, size])).toEqual(
      [
        ['file', 'a.txt', 1, 3],
        ['file', 'b.txt', 1, 3],
        ['folder', 'photos', 2, 6],
        ['folder', 'x', 1, 3],
      ],
    );
  });

  it('is a folder even if nothing is in it, or only in folders inside it', async () => {
    const contents = contentsOf([picked('trip/a.txt')], ['trip/none', 'bare', 'tripod/none']);
    expect(contents.map(({ description: { name, files, size } }) => [name, files, size])).toEqual([
      ['trip', 1, 3],
      ['bare', 0, 0],
      ['tripod', 0, 0],
    ]);
    const [trip, bare] = contents;
    expect(await trip?.bytes.text()).toMatch(/"path":"a.txt".*abc.*"path":"none".*"kind":"folder"}$/s);
    expect(bare?.bytes.size).toBe(0);
  });

  it('is a text that is called by its first line', async () => {
    const { description, bytes } = contentOfWords('\n  Hello\nthere');
    expect([description.kind, description.name]).toEqual(['text', 'Hello']);
    expect(await bytes.text()).toBe('\n  Hello\nthere');
    expect(contentOfWords('x'.repeat(500)).description.name).toHaveLength(61);
  });
});
