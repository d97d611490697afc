// The sort order of entries, to insert one into a list that is loaded already.
import type { Entry, Sort } from './entries';

export type Order = (one: Pick<Entry, Facts>, other: Pick<Entry, Facts>) => number;
type Facts = 'id' | 'kind' | 'name' | 'created_at';

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

const ORDERS: Record<Sort, Order> = {
  name: (one, other) =>
    Number(other.kind === 'folder') - Number(one.kind === 'folder') ||
    names.compare(one.name, other.name) ||
    compare(one.id, other.id),
  newest: (one, other) => compare(other.created_at, one.created_at) || compare(other.id, one.id),
};

export function orderOf(sort: Sort): Order {
  return ORDERS[sort];
}

/** `entries` with `entry` inserted at its place. */
export function placed<Item extends Pick<Entry, Facts>>(
  entries: readonly Item[],
  entry: Item,
  order: Order,
): Item[] {
  const others = entries.filter(({ id }) => id !== entry.id);
  const at = others.findIndex((other) => order(entry, other) < 0);
  return at < 0 ? [...others, entry] : others.toSpliced(at, 0, entry);
}

/** Entries that are in both keep their place. */
export function merged<Item extends { id: string }>(entries: readonly Item[], more: readonly Item[]): Item[] {
  const known = new Set(entries.map(({ id }) => id));
  return [...entries, ...more.filter(({ id }) => !known.has(id))];
}

export function without<Item extends { id: string }>(
  entries: readonly Item[],
  gone: readonly { id: string }[],
): Item[] {
  const ids = new Set(gone.map(({ id }) => id));
  return entries.filter(({ id }) => !ids.has(id));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
