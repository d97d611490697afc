// What a score or a set list needs on the stand without a network.
import { PAST_KEPT } from '$lib/shell/offlineCache';
import { itemPath } from './itemPath';
import type { PackPlan } from './offlinePacks';
import { PLAIN, readLayout, type Page, type Score } from './scoreCalls';
import type { SetList } from './setListCalls';
import { chosenPages } from './slides';

// Without them nobody is signed in, and the app shows nothing.
const ALWAYS = ['/api/v1/whoami', '/api/v1/accounts/me'];

export function scoreVersion({ etag, layers }: Pick<Score, 'etag' | 'layers'>): string {
  return [etag, ...layers.map(({ layer_id, seq }) => `${layer_id}.${seq}`)].join(' ');
}

/** `scores` are those of its entries that can be read. */
export function setListVersion({ etag }: Pick<SetList, 'etag'>, scores: readonly Score[]): string {
  return [etag, ...scores.map((score) => `${score.score_id}: ${scoreVersion(score)}`)].join('\n');
}

export function planOfScore(score: Score): PackPlan {
  return {
    kind: 'scores',
    id: score.score_id,
    name: score.title,
    version: scoreVersion(score),
    pages: score.pages.length,
    addresses: addressesOf([scoreAddress(score.score_id)], [[score.score_id, score.pages]]),
  };
}

/** A score as an entry of a set list wants it. */
export type Transposed = { address: string; scoreId: string; by: number; pages: Page[] };

export async function readTransposed(scoreId: string, by: number): Promise<Transposed> {
  const choice = { ...PLAIN, transpose: by };
  const query = new URLSearchParams(Object.entries(choice).map(([name, value]) => [name, String(value)]));
  const { pages } = await readLayout(scoreId, choice, PAST_KEPT);
  return { address: `/api/v1/scores/${scoreId}/layout?${query}`, scoreId, by, pages };
}

/** `scores` are those of its entries that can be read, and `laid` those that are transposed. */
export function planOfSetList(
  list: SetList,
  scores: readonly Score[],
  laid: readonly Transposed[] = [],
): PackPlan {
  const played = list.entries.flatMap(({ score_id, page_ids, transpose }): [string, readonly Page[]][] => {
    const moved = laid.find(({ scoreId, by }) => scoreId === score_id && by === transpose);
    if (moved) return [[score_id, moved.pages]];
    const score = scores.find((each) => each.score_id === score_id);
    return score ? [[score_id, chosenPages(score.pages, page_ids)]] : [];
  });
  return {
    kind: 'set-lists',
    id: list.list_id,
    name: list.name,
    version: setListVersion(list, scores),
    pages: played.reduce((count, [, pages]) => count + pages.length, 0),
    addresses: addressesOf(
      [
        `/api/v1/set-lists/${list.list_id}`,
        ...scores.map(({ score_id }) => scoreAddress(score_id)),
        ...laid.map(({ address }) => address),
      ],
      played,
    ),
  };
}

function addressesOf(first: string[], played: readonly [string, readonly Page[]][]): string[] {
  const shown = played.flatMap(([scoreId, pages]) => pages.map(({ item }) => itemPath(scoreId, item)));
  return [...new Set([...ALWAYS, ...first, ...shown])];
}

/** The address that the stand reads. */
function scoreAddress(scoreId: string): string {
  return `/api/v1/scores/${scoreId}?marks=true`;
}
