// The steps of a receipt (offered, on the shelf, opened, downloaded, verified), for one receiver and for many.
import type { Receipt, State, Transfer } from '$lib/api/transfers';

/** In the order in which they are reached; there is no way back. */
export const STEPS = ['offered', 'shelved', 'opened', 'downloaded', 'verified'] as const;
export type Step = (typeof STEPS)[number];

export function isStep(state: State): state is Step {
  return (STEPS as readonly State[]).includes(state);
}

/** How many steps it has reached. */
export function reached(state: State): number {
  return isStep(state) ? STEPS.indexOf(state) + 1 : 0;
}

export type Summary = { step: Step; count: number; of: number; declined: number };

/** For many receivers: the furthest step that any has reached, and how many have. Withdrawn ones do not count. */
export function summaryOf(counts: Transfer['counts']): Summary {
  const of = STEPS.reduce((sum, step) => sum + counts[step], counts.declined);
  let count = 0;
  for (const step of [...STEPS].reverse()) {
    count += counts[step];
    if (count) return { step, count, of, declined: counts.declined };
  }
  return { step: 'offered', count: 0, of, declined: counts.declined };
}

/** Whether the receiver can still take it. */
export function canBeTaken({ direction, state, is_available }: Transfer): boolean {
  return direction === 'received' && is_available && isStep(state);
}

/** Whether the sender can still take it back from somebody. */
export function canBeWithdrawn({ direction, receipts }: Transfer): boolean {
  return direction === 'sent' && receipts.some(isUntaken);
}

/** What is on a shelf belongs to the receiver once they have seen it. */
function isUntaken({ state, shelved_at }: Receipt): boolean {
  return state === 'offered' || state === 'shelved' || (state === 'opened' && shelved_at === null);
}

/** Whether the receiver has not looked at it yet, wherever its files are by then. */
export function isUnopened({ direction, receipts, state }: Transfer): boolean {
  return direction === 'received' && isStep(state) && receipts[0]?.opened_at === null;
}

/** Whether it should have come to the receiver's shelf and did not, so that it is lost with the room. */
export function missesShelf({ answers, shelf_folder, receipts }: Transfer): boolean {
  const [receipt] = receipts;
  if (!answers || !shelf_folder || !receipt) return false;
  return receipt.shelved_at === null && (receipt.state === 'offered' || receipt.state === 'opened');
}

/** Whether it came to the receiver's shelf by itself, before they have seen it. */
export function hasLanded({ opened_at, shelved_at }: Receipt): boolean {
  return shelved_at !== null && (opened_at === null || shelved_at < opened_at);
}
