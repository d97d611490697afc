// A score that somebody looks at: read from the server, and shown anew whenever it was changed here.
import { Problem } from '$lib/api/client';
import { readScore, type Item, type Page, type Score } from './scoreCalls';

export class OpenScore {
  score = $state.raw<Score>();
  problem = $state.raw<Problem>();
  readonly scoreId: string;

  readonly canEdit = $derived(this.score?.role === 'owner' || this.score?.role === 'editor');

  constructor(scoreId: string) {
    this.scoreId = scoreId;
    void this.load();
  }

  load = async (): Promise<void> => {
    try {
      this.score = await readScore(this.scoreId);
      this.problem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.problem = failure;
    }
  };
}

/** The pages that a part plays from; all of them if it names none. */
export function pagesOf({ pages, parts }: Score, partId: number | undefined): Page[] {
  const wanted = parts.find(({ part_id }) => part_id === partId)?.page_ids ?? [];
  if (!wanted.length) return pages;
  return wanted.flatMap((id) => pages.find(({ page_id }) => page_id === id) ?? []);
}

export function itemPath(scoreId: string, { item_id }: Pick<Item, 'item_id'>): string {
  return `/api/v1/scores/${scoreId}/items/${item_id}/content`;
}

/** A small picture of a page; the page itself where there is none, or none yet. */
export function thumbPath(scoreId: string, item: Pick<Item, 'item_id' | 'picture'>): string {
  if (item.picture?.state !== 'ready') return itemPath(scoreId, item);
  return `/api/v1/scores/${scoreId}/items/${item.item_id}/picture/grid/${encodeURIComponent(item.picture.version)}`;
}
