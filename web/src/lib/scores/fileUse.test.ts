import { describe, expect, it } from 'vitest';
import { useOf } from './fileUse';

describe('a stored file', () => {
  const score = {
    pages: [{ item: { item_id: 'one' } }, { item: { item_id: 'straight' } }],
    imports: [{ item_id: 'pdf' }],
  };
  const items = [
    { item_id: 'one', photo_id: null },
    { item_id: 'photo', photo_id: null },
    { item_id: 'straight', photo_id: 'photo' },
    { item_id: 'crooked', photo_id: null },
    { item_id: 'level', photo_id: 'crooked' },
    { item_id: 'pdf', photo_id: null },
  ];

  it.each([
    ['one', 'page', 1],
    ['straight', 'page', 2],
    ['photo', 'photo', 0],
    ['pdf', 'source', 0],
    ['crooked', 'unused', 0],
    ['level', 'unused', 0],
  ])('%s is there as %s', (item_id, kind, page) =>
    expect(useOf({ item_id }, score, items)).toEqual({ kind, page }),
  );
});
