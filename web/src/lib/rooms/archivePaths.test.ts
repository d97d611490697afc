import { expect, test } from 'vitest';
import { downloadPaths, type Entry } from '$lib/files/entries';
import { archivePaths } from './rooms';

function entries(count: number, kind: 'file' | 'folder' = 'file'): Entry[] {
  return Array.from({ length: count }, (_, at) => ({ kind, id: `${at}`.padStart(26, '0') }) as Entry);
}

test('one file is downloaded as it is, and a folder as an archive', () => {
  expect(downloadPaths(entries(1))).toEqual([`/api/v1/shelf/files/${'0'.repeat(26)}/content`]);
  expect(downloadPaths(entries(1, 'folder'))[0]).toMatch(/archive\?folder=0+$/);
});

test.each([
  [101, 1],
  [201, 2],
  [450, 3],
])('%i things are in %i archives, whose addresses every proxy takes', (count, archives) => {
  const chosen = entries(count, 'folder');
  const ids = chosen.map(({ id }) => id);
  for (const paths of [downloadPaths(chosen), archivePaths('r'.repeat(26), ids)]) {
    expect(paths).toHaveLength(archives);
    expect(Math.max(...paths.map((path) => path.length))).toBeLessThan(7500);
    expect(paths.flatMap((path) => [...new URLSearchParams(path.split('?')[1]).values()])).toEqual(ids);
  }
});

test('all of a room needs no ids', () => {
  expect(archivePaths('r', [])).toEqual(['/api/v1/rooms/r/archive']);
});
