// Transfers in a room: the receipts of one's own, and the hand-outs that want answers.
import { SvelteMap } from 'svelte/reactivity';
import { Problem } from '$lib/api/client';
import { readSummary, type Transfer } from '$lib/api/transfers';
import { live } from '$lib/live/live.svelte';

// Older ones stand in the history; a room is for what happens now.
const MOST_FOLLOWED = 20;

export class Receipts {
  readonly transfers = new SvelteMap<string, Transfer>();
  #wanted: string[] = [];

  /** Follow what happens to them; returns a function that ends it. */
  follow(): () => void {
    const heard = [
      live.on('transfer.changed', ({ transfer_id }) => {
        if (this.#wanted.includes(transfer_id)) void this.#read(transfer_id);
      }),
      live.on('resync', () => this.#wanted.forEach((id) => void this.#read(id))),
    ];
    return () => heard.forEach((stop) => stop());
  }

  /** Of these transfers, the newest last. */
  want(transferIds: readonly string[]): void {
    this.#wanted = transferIds.slice(-MOST_FOLLOWED);
    for (const id of this.#wanted) if (!this.transfers.has(id)) void this.#read(id);
  }

  async #read(transferId: string): Promise<void> {
    try {
      this.transfers.set(transferId, await readSummary(transferId));
    } catch (problem) {
      // Nobody asked for it, so no problem is shown.
      if (!(problem instanceof Problem)) throw problem;
    }
  }
}

/** How many have it whole, of all to whom it was offered. */
export function arrivalOf({ counts, receipts }: Transfer): { count: number; all: number } {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const having = receipts.filter(({ downloaded_at, shelved_at }) => downloaded_at ?? shelved_at);
  return { count: having.length, all: all - counts.withdrawn };
}

/** How many have handed something in, of all who were asked to. */
export function answersOf({ receipts, missing }: Transfer): { count: number; all: number } {
  const count = receipts.filter(({ answer }) => answer).length;
  return { count, all: count + missing.length };
}
