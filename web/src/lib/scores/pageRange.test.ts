import { expect, test } from 'vitest';
import { readRange, writeRange } from './pageRange';

test('pages are written as people do, in any order and more than once', () => {
  expect(readRange('1-3, 5', 5)).toEqual([1, 2, 3, 5]);
  expect(readRange('4–2、2', 5)).toEqual([4, 3, 2, 2]);
  expect(readRange(' ', 5)).toEqual([]);
  expect(writeRange([1, 2, 3, 5, 4, 4])).toBe('1-3, 5, 4, 4');
});

test('what names no page of the score is refused', () => {
  for (const text of ['0', '6', '1-6', 'x', '1-', '-1', '1 2']) expect(readRange(text, 5)).toBeUndefined();
});
