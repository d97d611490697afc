// Inserts a transfer into a history that is loaded already.
import type { Direction, Transfer } from '$lib/api/transfers';

/** The list with it, newest first: in its place if it is known; what lies beyond the part that was read comes with that. */
export function placed<Item extends Pick<Transfer, 'transfer_id' | 'direction' | 'sent_at'>>(
  transfers: readonly Item[],
  transfer: Item,
  direction: Direction,
  isWhole: boolean,
): Item[] {
  if (transfers.some(({ transfer_id }) => transfer_id === transfer.transfer_id)) {
    return transfers.map((each) => (each.transfer_id === transfer.transfer_id ? transfer : each));
  }
  if (direction !== 'all' && direction !== transfer.direction) return [...transfers];
  const at = transfers.findIndex(({ sent_at }) => sent_at < transfer.sent_at);
  if (at >= 0) return transfers.toSpliced(at, 0, transfer);
  return isWhole ? [...transfers, transfer] : [...transfers];
}
