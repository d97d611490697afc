import { describe, expect, it } from 'vitest';
import {
  arranged,
  insertedBefore,
  moved,
  pagesBetween,
  renamed,
  replaced,
  rotated,
  without,
} from './pageOrder';
import type { Page } from './scoreCalls';

function pages(...items: string[]): Page[] {
  return items.map((item_id, at) => ({
    page_id: at + 1,
    name: `p${at + 1}`,
    rotation: 0,
    item: { item_id, kind: 'png', name: item_id, size_bytes: 1, picture: null },
  })) as Page[];
}

const ids = (drafts: { page_id?: number | null }[]): unknown[] => drafts.map(({ page_id }) => page_id);

describe('the order of pages', () => {
  it('changes by moving one', () => {
    expect(moved(['a', 'b', 'c', 'd'], 0, 2)).toEqual(['b', 'c', 'a', 'd']);
    expect(moved(['a', 'b', 'c', 'd'], 3, 0)).toEqual(['d', 'a', 'b', 'c']);
    expect(moved(['a', 'b'], 0, 99)).toEqual(['b', 'a']);
    expect(moved(['a', 'b'], 7, 0)).toEqual(['a', 'b']);
  });

  it('keeps every id when a page is removed, renamed or turned', () => {
    const three = pages('a', 'b', 'c');
    expect(ids(without(three, 2))).toEqual([1, 3]);
    expect(renamed(three, 2, 'Trio')[1]).toMatchObject({ page_id: 2, name: 'Trio', item_id: 'b' });
    expect(rotated(three, 3)[2]).toMatchObject({ page_id: 3, rotation: 90 });
    expect(rotated(three, 3)[0]).toMatchObject({ page_id: 1, rotation: 0 });
  });

  it('puts another picture on a page without another page for it', () => {
    const drafts = replaced(pages('a', 'b', 'new'), 1, 'new');
    expect(drafts.map(({ page_id, item_id }) => [page_id, item_id])).toEqual([
      [1, 'new'],
      [2, 'b'],
    ]);
  });

  it('sorts pictures that came in any order as they were chosen', () => {
    expect(ids(arranged(pages('old', 'b', 'c', 'a'), ['a', 'b', 'c']))).toEqual([1, 4, 2, 3]);
    expect(ids(arranged(pages('a', 'b'), ['b', 'gone', 'a']))).toEqual([2, 1]);
  });

  it('inserts what has just come before a page', () => {
    expect(ids(insertedBefore(pages('a', 'b', 'y', 'x'), 2, ['x', 'y']))).toEqual([1, 4, 3, 2]);
  });

  it('has the pages from one to another, in either direction', () => {
    const four = pages('a', 'b', 'c', 'd');
    expect(pagesBetween(four, 2, 3)).toEqual([2, 3]);
    expect(pagesBetween(four, 3, 2)).toEqual([2, 3]);
    expect(pagesBetween(four, undefined, undefined)).toEqual([]);
    expect(pagesBetween(four, 1, 4)).toEqual([]);
    expect(pagesBetween([], undefined, undefined)).toEqual([]);
  });
});
