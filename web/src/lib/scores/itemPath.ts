// The addresses of the pages of scores and of their small pictures.
import type { Item } from './scoreCalls';

export function itemPath(scoreId: string, { item_id }: Pick<Item, 'item_id'>): string {
  return `/api/v1/scores/${scoreId}/items/${item_id}/content`;
}

/** A small picture of a page; the page itself where there is none, or none yet. */
export function thumbPath(scoreId: string, item: Pick<Item, 'item_id' | 'picture'>): string {
  if (item.picture?.state !== 'ready') return itemPath(scoreId, item);
  return `/api/v1/scores/${scoreId}/items/${item.item_id}/picture/grid/${encodeURIComponent(item.picture.version)}`;
}
