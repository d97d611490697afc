// Transfers that wait to be opened: the badge in the navigation, and the notice above the page.
import { Problem } from '$lib/api/client';
import { readWaiting, type Transfer } from '$lib/api/transfers';
import { live } from '$lib/live/live.svelte';

// How long after a failed reading it is tried again.
const AGAIN_MS = 5000;
/** For whom something waited when it was last read on this device. */
const KEPT = 'waiting';

class Waiting {
  transfers = $state.raw<Transfer[]>([]);
  /** There are more than are told at once. */
  more = $state(false);
  /** Dismissed until the page is reloaded. */
  #later = $state.raw<ReadonlySet<string>>(new Set());
  /** Whether something waited the last time, as long as that has not been read again. */
  expected = $state(Boolean(readKept()));
  #who = '';
  #isStale = false;
  #reading: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The text of the badge: empty, a number, or “30+”. */
  readonly badge = $derived(this.more ? `${this.transfers.length}+` : String(this.transfers.length || ''));
  readonly told = $derived(this.transfers.filter(({ transfer_id }) => !this.#later.has(transfer_id)));

  /** Follow what comes for one person; returns a function that ends it. */
  watch = (who: string): (() => void) => {
    this.#who = who;
    this.expected = readKept() === who;
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

  #keep(): void {
    this.expected = false;
    try {
      if (this.transfers.length) localStorage.setItem(KEPT, this.#who);
      else localStorage.removeItem(KEPT);
    } catch {
      // Storage is disabled: the page jumps a little.
    }
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
        this.#keep();
      } catch (problem) {
        // Nobody asked for it, so no problem is shown; it is read again soon.
        if (!(problem instanceof Problem)) throw problem;
        this.#readSoon();
      }
    }
  }
}

function readKept(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

export const waiting = new Waiting();
