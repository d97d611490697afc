// What a stored file of a score is there for.
import type { Item, Score } from './scoreCalls';

/** `page` counts from 1. */
export type FileUse = { kind: 'page' | 'photo' | 'source' | 'unused'; page: number };

type Used = { pages: { item: Pick<Item, 'item_id'> }[]; imports: { item_id: string }[] };

export function useOf(
  { item_id }: Pick<Item, 'item_id'>,
  { pages, imports }: Used | Score,
  items: readonly Pick<Item, 'item_id' | 'photo_id'>[],
): FileUse {
  const page = pages.findIndex(({ item }) => item.item_id === item_id) + 1;
  if (page) return { kind: 'page', page };
  if (imports.some((each) => each.item_id === item_id)) return { kind: 'source', page };
  const straight = items.filter(({ photo_id }) => photo_id === item_id);
  const isPhoto = pages.some(({ item }) => straight.some((each) => each.item_id === item.item_id));
  return { kind: isPhoto ? 'photo' : 'unused', page };
}
