// The history of transfers, newest first, in pages, kept up to date by live events.
import { Problem } from '$lib/api/client';
import { readSummary, readTransfers, type Direction } from '$lib/api/transfers';
import { live } from '$lib/live/live.svelte';
import { PagedLoader } from '$lib/shell/loader.svelte';
import { placed } from './historyOrder';

export class History {
  readonly direction: Direction;
  readonly pages: PagedLoader<Awaited<ReturnType<typeof readSummary>>>;

  constructor(direction: Direction) {
    this.direction = direction;
    this.pages = new PagedLoader(async (cursor) => {
      const { transfers, cursor: next } = await readTransfers(direction, cursor);
      return { items: transfers, cursor: next };
    });
  }

  /** Returns a function that ends it. */
  watch(): () => void {
    const look = ({ transfer_id }: { transfer_id: string }): void => void this.#look(transfer_id);
    const ends = [
      live.on('transfer.offered', look),
      live.on('transfer.changed', look),
      live.on('resync', () => void this.pages.restart()),
    ];
    return () => ends.forEach((end) => end());
  }

  async #look(transferId: string): Promise<void> {
    try {
      const transfer = await readSummary(transferId);
      this.pages.items = placed(this.pages.items ?? [], transfer, this.direction, !this.pages.more);
    } catch (problem) {
      // It shows up when the list is read the next time.
      if (!(problem instanceof Problem)) throw problem;
    }
  }
}
