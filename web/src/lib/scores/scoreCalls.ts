// The API calls for scores, and their types.
import { ask, http } from '$lib/api/client';
import { RepeatKeys } from '$lib/api/repeatKeys';
import type { components } from '$lib/api/schema';
import type { Layer, Mark, NewMark } from './marks';

type Answered = components['schemas']['ScoreView'];
type AnsweredLayout = components['schemas']['ScoreLayoutView'];
export type Item = components['schemas']['ScoreItemView'];
/** A page whose item is there; of others there is nothing to show. */
export type Page = Answered['pages'][number] & { item: Item };
export type Score = Omit<Answered, 'pages'> & { pages: Page[] };
export type ScoreCard = components['schemas']['ScoreCard'];
export type Library = components['schemas']['ScoreList'];
export type Part = Score['parts'][number];
export type Movement = Score['movements'][number];
export type Jump = Score['jumps'][number];
export type Import = Score['imports'][number];
export type Snapshot = Score['snapshots'][number];
export type Role = Score['role'];
export type Access = Score['access'];
export type ScoreShare = components['schemas']['ScoreShareView'];
export type GivenRole = ScoreShare['role'];
export type Comparison = components['schemas']['ComparisonView'];
export type News = components['schemas']['ScoreNewsView'];
export type Playback = components['schemas']['ScorePlaybackView'];
export type LayoutChoice = Required<components['schemas']['LayoutBody']>;
/** A score as one reader wants it laid out. */
export type Layout = Omit<AnsweredLayout, 'pages'> & { pages: Page[] };
export type Person = { person_id: string; name: string; page_id: number | null };
export type ScoreDraft = { title: string; composer: string; description: string; tags: string[] };
export type ScoreChange = components['schemas']['ScorePatchBody'];
/** A page as it is to be; without an id it is a new one. */
export type PageDraft = components['schemas']['PageBody'];
/** Whether what is kept on this device may answer. */
export type How = Pick<RequestInit, 'cache'>;

const repeated = new RepeatKeys();

export function readLibrary(): Promise<Library> {
  return ask(http.GET('/api/v1/scores', { params: { query: {} } }));
}

/** With all marks that the reader may see. */
export function readScore(scoreId: string, how: How = {}): Promise<Score> {
  const params = { path: { score_id: scoreId }, query: { marks: true } };
  return scoreFrom(http.GET('/api/v1/scores/{score_id}', { params, ...how }));
}

/** As visitors of a link see it. */
export function readLinkedScore(token: string, pass: string): Promise<Score> {
  const params = { path: { token }, query: pass ? { pass } : {} };
  const answer = http.GET('/api/v1/open/{token}/outline', { params, parseAs: 'json' });
  return scoreFrom(answer as unknown as Parameters<typeof scoreFrom>[0]);
}

/** As it was added. */
export const PLAIN: LayoutChoice = { transpose: 0, instrument: 0, size: 'normal' };

export function isPlain({ transpose, instrument, size }: LayoutChoice): boolean {
  return transpose === 0 && instrument === 0 && size === 'normal';
}

export async function readLayout(scoreId: string, choice: LayoutChoice, how: How = {}): Promise<Layout> {
  const params = { path: { score_id: scoreId }, query: choice };
  return shownPages(await ask(http.GET('/api/v1/scores/{score_id}/layout', { params, ...how })));
}

/** As visitors of a link want it. */
export async function readLinkedLayout(token: string, pass: string, choice: LayoutChoice): Promise<Layout> {
  const params = { path: { token }, query: { ...choice, ...(pass && { pass }) } };
  const answer = http.GET('/api/v1/open/{token}/layout', { params, parseAs: 'json' });
  return shownPages(await ask(answer as unknown as Parameters<typeof ask<AnsweredLayout>>[0]));
}

export function readPlayback(scoreId: string): Promise<Playback> {
  return ask(http.GET('/api/v1/scores/{score_id}/playback', which(scoreId)));
}

/** As visitors of a link hear it. */
export function readLinkedPlayback(token: string, pass: string): Promise<Playback> {
  const params = { path: { token }, query: pass ? { pass } : {} };
  const answer = http.GET('/api/v1/open/{token}/playback', { params, parseAs: 'json' });
  return ask(answer as unknown as Parameters<typeof ask<Playback>>[0]);
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

/** All stored files, also those that no page shows. */
export async function listItems(scoreId: string): Promise<Item[]> {
  return (await ask(http.GET('/api/v1/scores/{score_id}/items', which(scoreId)))).items;
}

/** A stored file that no page shows. If pages are being made of it, no more are. */
export async function deleteItem(scoreId: string, itemId: string): Promise<void> {
  const params = { path: { score_id: scoreId, item_id: itemId } };
  await ask(http.DELETE('/api/v1/scores/{score_id}/items/{item_id}', { params }));
}

/** What a photo of a page becomes when it is cropped and levelled; the photo itself if nothing was to do. */
export function straightenItem(scoreId: string, itemId: string): Promise<Item> {
  const params = { path: { score_id: scoreId, item_id: itemId } };
  return ask(http.POST('/api/v1/scores/{score_id}/items/{item_id}/straighten', { params }));
}

export function createLayer(
  scoreId: string,
  body: { name: string; part_id?: number },
  key: string,
): Promise<Layer> {
  const params = { path: { score_id: scoreId }, header: { 'Idempotency-Key': key } };
  return ask(http.POST('/api/v1/scores/{score_id}/layers', { params, body }));
}

export function changeLayer(
  scoreId: string,
  layerId: number,
  body: { name?: string; published?: boolean },
): Promise<Layer> {
  const params = { path: { score_id: scoreId, layer_id: layerId } };
  return ask(http.PATCH('/api/v1/scores/{score_id}/layers/{layer_id}', { params, body }));
}

export async function deleteLayer(scoreId: string, layerId: number): Promise<void> {
  const params = { path: { score_id: scoreId, layer_id: layerId } };
  await ask(http.DELETE('/api/v1/scores/{score_id}/layers/{layer_id}', { params }));
}

export function readMarks(scoreId: string): Promise<{ marks: Mark[]; layers: Layer[] }> {
  return ask(
    http.GET('/api/v1/scores/{score_id}/marks', { params: { path: { score_id: scoreId }, query: {} } }),
  );
}

export function writeMarks(
  scoreId: string,
  layerId: number,
  body: { add: NewMark[]; remove: number[]; layout?: LayoutChoice },
  key: string,
): Promise<{ seq: number; added: number[] }> {
  const params = { path: { score_id: scoreId, layer_id: layerId }, header: { 'Idempotency-Key': key } };
  return ask(http.POST('/api/v1/scores/{score_id}/layers/{layer_id}/marks', { params, body }));
}

export function takeSnapshot(scoreId: string, name: string): Promise<Snapshot> {
  return repeated.once({ scoreId, name }, (key) => {
    const params = { path: { score_id: scoreId }, header: { 'Idempotency-Key': key } };
    return ask(http.POST('/api/v1/scores/{score_id}/snapshots', { params, body: { name } }));
  });
}

export function readSnapshot(scoreId: string, snapshotId: string): Promise<Score> {
  return scoreFrom(
    http.GET('/api/v1/scores/{score_id}/snapshots/{snapshot_id}', snapshotPath(scoreId, snapshotId)),
  );
}

export async function deleteSnapshot(scoreId: string, snapshotId: string): Promise<void> {
  await ask(
    http.DELETE('/api/v1/scores/{score_id}/snapshots/{snapshot_id}', snapshotPath(scoreId, snapshotId)),
  );
}

export function restoreSnapshot({ score_id, etag }: Score, snapshotId: string): Promise<Score> {
  const params = { path: { score_id, snapshot_id: snapshotId }, header: { 'If-Match': quoted(etag) } };
  return scoreFrom(http.POST('/api/v1/scores/{score_id}/snapshots/{snapshot_id}/restore', { params }));
}

/** What differs between two snapshots, or between one and `now`. */
export function compare(scoreId: string, from: string, to: string): Promise<Comparison> {
  const params = { path: { score_id: scoreId }, query: { from, to } };
  return ask(http.GET('/api/v1/scores/{score_id}/compare', { params }));
}

/** What others have done since one looked last. */
export function readNews(scoreId: string): Promise<News> {
  return ask(http.GET('/api/v1/scores/{score_id}/news', which(scoreId)));
}

export async function markAsSeen(scoreId: string): Promise<void> {
  await ask(http.PUT('/api/v1/scores/{score_id}/news', which(scoreId)));
}

export async function readShares(scoreId: string): Promise<ScoreShare[]> {
  return (await ask(http.GET('/api/v1/scores/{score_id}/shares', which(scoreId)))).shares;
}

export function shareScore(scoreId: string, email: string, role: GivenRole): Promise<ScoreShare> {
  const params = { path: { score_id: scoreId, email } };
  return ask(http.PUT('/api/v1/scores/{score_id}/shares/{email}', { params, body: { role } }));
}

export async function stopSharing(scoreId: string, email: string): Promise<void> {
  const params = { path: { score_id: scoreId, email } };
  await ask(http.DELETE('/api/v1/scores/{score_id}/shares/{email}', { params }));
}

export async function leaveScore(scoreId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/scores/{score_id}/membership', which(scoreId)));
}

/** That somebody looks at a score, and who else does. */
export async function attend(scoreId: string, pageId: number | undefined): Promise<Person[]> {
  const body = pageId === undefined ? {} : { page_id: pageId };
  return (await ask(http.PUT('/api/v1/scores/{score_id}/presence', { ...which(scoreId), body }))).people;
}

export async function leaveStand(scoreId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/scores/{score_id}/presence', which(scoreId)));
}

/** Turn the page for everybody who follows. */
export async function leadTo(scoreId: string, body: { page_id?: number; bar?: number }): Promise<void> {
  await ask(http.POST('/api/v1/scores/{score_id}/turn', { ...which(scoreId), body }));
}

async function scoreFrom(call: Parameters<typeof ask<Answered>>[0]): Promise<Score> {
  return shownPages(await ask(call));
}

function shownPages<Shown extends Pick<Answered, 'pages'>>(
  shown: Shown,
): Omit<Shown, 'pages'> & { pages: Page[] } {
  return { ...shown, pages: shown.pages.filter((page): page is Page => page.item !== null) };
}

function which(scoreId: string): { params: { path: { score_id: string } } } {
  return { params: { path: { score_id: scoreId } } };
}

function snapshotPath(
  scoreId: string,
  snapshotId: string,
): { params: { path: { score_id: string; snapshot_id: string } } } {
  return { params: { path: { score_id: scoreId, snapshot_id: snapshotId } } };
}

function quoted(etag: string): string {
  return `"${etag}"`;
}
