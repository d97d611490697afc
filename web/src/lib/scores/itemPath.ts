// The addresses of the pages of scores, of their small pictures, and of the PDF of a score.
import type { Item } from './scoreCalls';

export function itemPath(scoreId: string, { item_id }: Pick<Item, 'item_id'>): string {
  return `/api/v1/scores/${scoreId}/items/${item_id}/content`;
}

/** A small picture of a page; the page itself where there is none, or none yet. */
export function thumbPath(scoreId: string, item: Pick<Item, 'item_id' | 'picture'>): string {
  if (item.picture?.state !== 'ready') return itemPath(scoreId, item);
  return `/api/v1/scores/${scoreId}/items/${item.item_id}/picture/grid/${encodeURIComponent(item.picture.version)}`;
}

/** A PDF of a score or of one part, with the marks that one sees or without any. */
export function exportPath(
  scoreId: string,
  { part, withMarks }: { part: number | undefined; withMarks: boolean },
): string {
  const query = new URLSearchParams({
    marks: String(withMarks),
    ...(part !== undefined && { part: String(part) }),
  });
  return `/api/v1/scores/${scoreId}/export?${query}`;
}
