// The API calls for scores, and their types.
import { ask, http } from '$lib/api/client';
import type { components } from '$lib/api/schema';

type Answered = components['schemas']['ScoreView'];
export type Item = components['schemas']['ScoreItemView'];
/** A page whose item is there; of others there is nothing to show. */
export type Page = Answered['pages'][number] & { item: Item };
export type Score = Omit<Answered, 'pages'> & { pages: Page[] };
export type ScoreCard = components['schemas']['ScoreCard'];
export type Library = components['schemas']['ScoreList'];
export type Part = Score['parts'][number];
export type Movement = Score['movements'][number];
export type Jump = Score['jumps'][number];
export type Role = Score['role'];
export type Access = Score['access'];
export type ScoreDraft = { title: string; composer: string; description: string; tags: string[] };
export type ScoreChange = components['schemas']['ScorePatchBody'];
/** A page as it is to be; without an id it is a new one. */
export type PageDraft = components['schemas']['PageBody'];

export function readLibrary(): Promise<Library> {
  return ask(http.GET('/api/v1/scores', { params: { query: {} } }));
}

export function readScore(scoreId: string): Promise<Score> {
  return scoreFrom(http.GET('/api/v1/scores/{score_id}', which(scoreId)));
}

export function createScore(body: Partial<ScoreDraft> & { title: string }, key: string): Promise<Score> {
  return scoreFrom(http.POST('/api/v1/scores', { params: { header: { 'Idempotency-Key': key } }, body }));
}

export function changeScore({ score_id, etag }: Score, body: ScoreChange): Promise<Score> {
  const params = { path: { score_id }, header: { 'If-Match': quoted(etag) } };
  return scoreFrom(http.PATCH('/api/v1/scores/{score_id}', { params, body }));
}

export async function deleteScore(scoreId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/scores/{score_id}', which(scoreId)));
}

/** All pages in their order, at once. */
export function setPages({ score_id, etag }: Score, pages: PageDraft[]): Promise<Score> {
  const params = { path: { score_id }, header: { 'If-Match': quoted(etag) } };
  return scoreFrom(http.PUT('/api/v1/scores/{score_id}/pages', { params, body: { pages } }));
}

async function scoreFrom(call: Parameters<typeof ask<Answered>>[0]): Promise<Score> {
  const score = await ask(call);
  return { ...score, pages: score.pages.filter((page): page is Page => page.item !== null) };
}

function which(scoreId: string): { params: { path: { score_id: string } } } {
  return { params: { path: { score_id: scoreId } } };
}

function quoted(etag: string): string {
  return `"${etag}"`;
}
