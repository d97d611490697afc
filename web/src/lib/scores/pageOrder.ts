// The pages of a score as they are to be: each change gives the whole order, which the server takes at once.
import { nextRotation, type Rotation } from './pagePlace';
import type { Item, Page, PageDraft } from './scoreCalls';

export function drafts(pages: readonly Page[]): PageDraft[] {
  return pages.map(({ page_id, name, rotation, item }) => ({
    page_id,
    item_id: item.item_id,
    name,
    rotation: rotation as Rotation,
  }));
}

/** One page goes to another place; the others close up. */
export function moved<Each>(pages: readonly Each[], from: number, to: number): Each[] {
  const order = [...pages];
  const [page] = order.splice(from, 1);
  if (page !== undefined) order.splice(Math.min(Math.max(0, to), order.length), 0, page);
  return order;
}

export function without(pages: readonly Page[], pageId: number): PageDraft[] {
  return drafts(pages.filter(({ page_id }) => page_id !== pageId));
}

export function renamed(pages: readonly Page[], pageId: number, name: string): PageDraft[] {
  return drafts(pages).map((page) => (page.page_id === pageId ? { ...page, name } : page));
}

export function rotated(pages: readonly Page[], pageId: number): PageDraft[] {
  return drafts(pages).map((page) =>
    page.page_id === pageId ? { ...page, rotation: nextRotation(page.rotation ?? 0) } : page,
  );
}

/** Pages show other items than before: the ids of the new ones by those of the old. */
export function exchanged(pages: readonly PageDraft[], items: ReadonlyMap<string, string>): PageDraft[] {
  return pages.map((page) => ({ ...page, item_id: items.get(page.item_id) ?? page.item_id }));
}

/** Another picture on the same page, whose marks stay; the page that was made for the picture goes. */
export function replaced(pages: readonly Page[], pageId: number, itemId: Item['item_id']): PageDraft[] {
  return drafts(pages)
    .filter(({ page_id, item_id }) => page_id === pageId || item_id !== itemId)
    .map((page) => (page.page_id === pageId ? { ...page, item_id: itemId } : page));
}

/** Pages of these items come in this order, where the first of them is now; the others stay. */
export function arranged(pages: readonly Page[], itemIds: readonly string[]): PageDraft[] {
  const wanted = new Set(itemIds);
  const all = drafts(pages);
  const sorted = itemIds.flatMap((id) => all.filter(({ item_id }) => item_id === id));
  let next = 0;
  return all.map((page) => (wanted.has(page.item_id) ? (sorted[next++] ?? page) : page));
}

/** Pages of these items come before another page, in their order. */
export function insertedBefore(
  pages: readonly Page[],
  pageId: number,
  itemIds: readonly string[],
): PageDraft[] {
  const all = drafts(pages);
  const fresh = itemIds.flatMap((id) =>
    all.filter(({ item_id, page_id }) => item_id === id && page_id !== pageId),
  );
  const rest = all.filter((page) => !fresh.includes(page));
  const at = rest.findIndex(({ page_id }) => page_id === pageId);
  return [...rest.slice(0, Math.max(0, at)), ...fresh, ...rest.slice(Math.max(0, at))];
}

/** The ids of the pages from one to another; none stands for all of them. */
export function pagesBetween(
  pages: readonly Page[],
  first: number | undefined,
  last: number | undefined,
): number[] {
  const at = (id: number | undefined, otherwise: number): number => {
    const found = pages.findIndex(({ page_id }) => page_id === id);
    return found < 0 ? otherwise : found;
  };
  const [from, to] = [at(first, 0), at(last, pages.length - 1)].sort((a, b) => a - b);
  const ids = pages.slice(from, (to ?? 0) + 1).map(({ page_id }) => page_id);
  return ids.length === pages.length ? [] : ids;
}
