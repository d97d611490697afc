// New pages and new scores from files: they are uploaded, and their pages come in the order in which they were chosen.
import type { Picked } from '$lib/files/pickedFiles';
import { act } from '$lib/shell/action';
import { queue } from '$lib/uploads/queue.svelte';
import type { Upload } from '$lib/uploads/upload.svelte';
import { sourceOf, type Bundle } from './fileTitle';
import { arranged, exchanged } from './pageOrder';
import {
  createScore,
  readScore,
  setPages,
  straightenItem,
  type Item,
  type PageDraft,
  type Score,
} from './scoreCalls';

export const DESTINATION = 'score';
export const ACCEPT =
  '.pdf,.musicxml,.mxl,.xml,.mei,.abc,.png,.jpg,.jpeg,application/pdf,image/png,image/jpeg';

const listeners = new Set<(scoreId: string) => void>();

/** Calls back when the pages of a score were put in order after an upload; returns a function that ends it. */
export function onArranged(callback: (scoreId: string) => void): () => void {
  listeners.add(callback);
  return () => void listeners.delete(callback);
}

/** What is sent of what was picked; the rest is no music. */
export function isMusic({ file }: Picked): boolean {
  return sourceOf(file.name) !== undefined;
}

/** A score for each bundle, and its files on their way. */
export async function addBundles(
  bundles: readonly Bundle<Picked & { name: string }>[],
  { straighten = false } = {},
): Promise<Score[]> {
  const scores: Score[] = [];
  for (const { title, composer, items } of bundles) {
    const score = await createScore({ title, ...(composer && { composer }) }, randomKey());
    addPages(score.score_id, items, arranged, { straighten });
    scores.push(score);
  }
  return scores;
}

type Order = (pages: Score['pages'], items: string[]) => PageDraft[];

/** Uploads files as the last pages of a score; once all are there, `order` says how the pages are to be. */
export function addPages(
  scoreId: string,
  picked: readonly Picked[],
  order: Order,
  { straighten = false } = {},
): void {
  const uploads = queue.add(picked, { destination: DESTINATION, score: scoreId });
  if (!uploads.length) return;
  const stop = queue.onArrival(DESTINATION, () => {
    const items = uploads.flatMap(({ became }) => became ?? []);
    if (items.length < uploads.length) return;
    stop();
    void act(() => arrange(scoreId, uploads, order, straighten));
  });
}

async function arrange(
  scoreId: string,
  uploads: readonly Upload[],
  order: Order,
  straighten: boolean,
): Promise<void> {
  const items = uploads.flatMap(({ became }) => became ?? []);
  const straight = straighten
    ? await straightened(await readScore(scoreId), items)
    : new Map<string, string>();
  const score = await readScore(scoreId);
  const pages = exchanged(order(score.pages, items), straight);
  const before = score.pages.map(({ page_id, item }) => `${page_id} ${item.item_id}`);
  const after = pages.map(({ page_id, item_id }) => `${page_id} ${item_id}`);
  if (before.join() === after.join()) return;
  await setPages(score, pages);
  for (const callback of listeners) callback(scoreId);
}

/** What the photos among these items became, by their ids. */
async function straightened(score: Score, items: readonly string[]): Promise<Map<string, string>> {
  const straight = new Map<string, string>();
  for (const { item } of score.pages)
    if (items.includes(item.item_id) && isPhoto(item))
      straight.set(item.item_id, (await straightenItem(score.score_id, item.item_id)).item_id);
  return straight;
}

export function isPhoto({ kind }: Pick<Item, 'kind'>): boolean {
  return kind === 'png' || kind === 'jpeg';
}

function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
