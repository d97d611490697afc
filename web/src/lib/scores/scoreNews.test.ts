import { expect, test } from 'vitest';
import { newsLines } from './scoreNews';

type Given = Parameters<typeof newsLines>;

test('new marks are counted by page and author, in the order of the pages', () => {
  const pages = [{ page_id: 5 }, { page_id: 2 }];
  const layers = [
    { layer_id: 1, author_name: 'Cem' },
    { layer_id: 2, author_name: 'Dora' },
  ];
  const marks = [
    { page_id: 2, layer_id: 1 },
    { page_id: 5, layer_id: 2 },
    { page_id: 2, layer_id: 1 },
    { page_id: 9, layer_id: 1 },
  ];
  const lines = newsLines({ pages, layers } as unknown as Given[0], marks as Given[1]);
  expect(lines.map(({ page, name, count }) => [page, name, count])).toEqual([
    [1, 'Dora', 1],
    [2, 'Cem', 2],
  ]);
});
