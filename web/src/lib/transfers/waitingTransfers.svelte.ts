// Transfers that wait to be opened: the badge in the navigation, and the notice above the page.
import { Problem } from '$lib/api/client';
import { readWaiting, type Transfer } from '$lib/api/transfers';
import { live } from '$lib/live/live.svelte';

// How long after a failed reading it is tried again.
const AGAIN_MS = 5000;

class Waiting {
  transfers = $state.raw<Transfer[]>([]);
  /** There are more than are told at once. */
  more = $state(false);
  /** Dismissed until the page is reloaded. */
  #later = $state.raw<ReadonlySet<string>>(new Set());
  #isStale = false;
  #reading: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The text of the badge: empty, a number, or “30+”. */
  readonly badge = $derived(this.more ? `${this.transfers.length}+` : String(this.transfers.length || ''));
  readonly told = $derived(this.transfers.filter(({ transfer_id }) => !this.#later.has(transfer_id)));

  /** Follow what comes for one person; returns a function that ends it. */
  watch = (): (() => void) => {
    void this.refresh();
    const ends = [
      live.on('transfer.offered', () => void this.refresh()),
      live.on('transfer.changed', ({ transfer_id }) => {
        if (this.transfers.some((each) => each.transfer_id === transfer_id)) void this.refresh();
      }),
      live.on('resync', () => void this.refresh()),
    ];
    return () => {
      clearTimeout(this.#timer);
      ends.forEach((end) => end());
      this.transfers = [];
      this.#later = new Set();
    };
  };

  putAside(): void {
    this.#later = new Set(this.transfers.map(({ transfer_id }) => transfer_id));
  }

  /** Somebody looks at it just now. */
  opened(transferId: string): void {
    this.transfers = this.transfers.filter(({ transfer_id }) => transfer_id !== transferId);
  }

  refresh(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  #readSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), AGAIN_MS);
  }

  async #read(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      try {
        const { transfers, more } = await readWaiting();
        this.transfers = transfers;
        this.more = more;
      } catch (problem) {
        // Nobody asked for it, so no problem is shown; it is read again soon.
        if (!(problem instanceof Problem)) throw problem;
        this.#readSoon();
      }
    }
  }
}

export const waiting = new Waiting();
