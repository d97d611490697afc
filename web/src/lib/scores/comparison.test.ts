import { describe, expect, it } from 'vitest';
import { changedPages } from './comparison';
import type { Comparison, Page } from './scoreCalls';

type Compared = Pick<Comparison, 'marks' | 'pages'>;

function page(page_id: number, item_id: string): Page {
  const item = { item_id, kind: 'png', name: '', size_bytes: 0, picture: null, photo_id: null } as const;
  return { page_id, name: '', rotation: 0, item };
}

function marked(page_id: number, author_name: string): Compared['marks'][number] {
  return { change: 'added', page_id, layer_id: 0, author_id: '', author_name, before: null, after: null };
}

describe('changed pages', () => {
  const before = { pages: [page(0, 'a'), page(1, 'b'), page(2, 'c')] };
  const after = { pages: [page(0, 'a'), page(1, 'new')] };

  it('are those with other marks, other pictures, and those that are gone', () => {
    const found = changedPages(
      {
        marks: [marked(2, 'Aki'), marked(2, 'Ben'), marked(2, 'Aki')],
        pages: [
          { page_id: 1, change: 'replaced', from_item: 'b', to_item: 'new' },
          { page_id: 2, change: 'removed', from_item: 'c', to_item: null },
        ],
      },
      after,
      before,
    );
    expect(found.map(({ page: { page_id }, number }) => [page_id, number])).toEqual([
      [1, 2],
      [2, 3],
    ]);
    expect(found.map((each) => each.before?.item.item_id)).toEqual(['b', undefined]);
    expect(found[1]?.people).toEqual([
      { name: 'Aki', count: 2 },
      { name: 'Ben', count: 1 },
    ]);
  });

  it('are none if nothing differs', () =>
    expect(changedPages({ marks: [], pages: [] }, before, before)).toEqual([]));
});
