import { expect, test } from 'vitest';
import { isEmpty, searchIn, searchPath } from './photoSearch';

test('what is searched for stands in the address', () => {
  const search = { q: 'sea 2024', type: 'VIDEO', favourite: true, near: '43.3,5.4', from: '' } as const;
  const path = searchPath(search);
  expect(path).toBe('/photos/search?q=sea+2024&type=VIDEO&favourite=true&near=43.3%2C5.4');
  const { from, ...rest } = search;
  expect(from).toBe('');
  expect(searchIn(new URL(path, 'http://satchel').searchParams)).toEqual(rest);
});

test('an address that says nothing of use searches for nothing', () => {
  expect(isEmpty(searchIn(new URLSearchParams('q=%20&type=POEM&other=1')))).toBe(true);
});
