import { expect, test } from 'vitest';
import type { Photo } from './photo';
import { addressesOf, archivePath } from './photoDownload';

function photo(id: string, owner = 'me'): Photo {
  return { id, owner } as Photo;
}

test('one photo is saved as it is', () => {
  expect(addressesOf([photo('a')], 'me')).toEqual(['/api/v1/photos/me/a/content']);
});

test('several of one library are one archive, and those of others come one by one', () => {
  expect(addressesOf([photo('a'), photo('b'), photo('c', 'bob')], 'me')).toEqual([
    '/api/v1/photos/archive?media=a&media=b',
    '/api/v1/photos/bob/c/content',
  ]);
});

test('photos of an album come from the album, whoever they belong to', () => {
  expect(addressesOf([photo('a', 'bob'), photo('b', 'bob')], 'me', 'sea')).toEqual([
    '/api/v1/albums/sea/archive?media=a&media=b',
  ]);
  expect(archivePath([], 'sea')).toBe('/api/v1/albums/sea/archive');
});

test('more than fit into an address are several archives', () => {
  const many = Array.from({ length: 250 }, (_, at) => photo(String(at)));
  expect(addressesOf(many, 'me')).toHaveLength(3);
});
