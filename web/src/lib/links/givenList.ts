// Which of the given links are listed, and in which order.
import { titleOf, type LinkState, type LinkView } from '$lib/api/links';

/** Ways a link stands, as people ask for them. */
export const FILTERS = ['all', 'active', 'waiting', 'paused', 'ended', 'revoked'] as const;
export const ORDERS = ['newest', 'opened', 'ending', 'name'] as const;
export type Filter = (typeof FILTERS)[number];
export type Order = (typeof ORDERS)[number];

const STANDS: Record<LinkState, Filter> = {
  active: 'active',
  'not-yet': 'waiting',
  paused: 'paused',
  expired: 'ended',
  'used-up': 'ended',
  gone: 'ended',
  revoked: 'revoked',
};

/** The links come newest first, and what is equal stays so. */
export function listed(links: readonly LinkView[], filter: Filter, order: Order, locale: string): LinkView[] {
  const found = links.filter(({ state }) => filter === 'all' || STANDS[state] === filter);
  if (order === 'opened') return found.sort((one, other) => other.opens - one.opens);
  if (order === 'ending') return found.sort((one, other) => endOf(one) - endOf(other));
  if (order === 'name') {
    const { compare } = new Intl.Collator(locale, { numeric: true });
    return found.sort((one, other) => compare(titleOf(one), titleOf(other)));
  }
  return found;
}

/** What has ended comes after everything that will. */
function endOf({ state, expires_at }: LinkView): number {
  const isOver = STANDS[state] === 'ended' || STANDS[state] === 'revoked';
  return isOver || !expires_at ? Number.MAX_SAFE_INTEGER : Date.parse(expires_at);
}
