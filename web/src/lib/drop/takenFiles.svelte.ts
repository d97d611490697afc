// What this member takes from a session, and how far each has come.
import { SvelteMap } from 'svelte/reactivity';
import { Flow } from './flow.svelte';
import type { Offer } from './sessionViews';
import { startReceiver, type Access, type Receiver, type TransferEvent } from './transfer/contentTransfer';

type Take = { flow: Flow; receiving: Receiver };

// So much browsers hold without asking where it shall go; more is written straight to disk where they can.
const ASK_FROM_BYTES = 2 ** 28;

export class TakenFiles {
  readonly takes = new SvelteMap<string, Take>();
  readonly isMoving = $derived([...this.takes.values()].some(({ flow }) => flow.isMoving));
  #access: Access;

  constructor(access: Access) {
    this.#access = access;
  }

  flowOf(fileId: string): Flow | undefined {
    return this.takes.get(fileId)?.flow;
  }

  /** To be called in the handler of a click; one that is taken `alone` may ask where to put it. */
  take(offer: Offer, alone: boolean): void {
    if (this.flowOf(offer.id)?.isMoving) return;
    const flow = new Flow();
    const isLarge = offer.kind !== 'text' && (offer.size ?? Infinity) >= ASK_FROM_BYTES;
    const receiving = startReceiver({
      access: this.#access,
      fileId: offer.id,
      ownerId: offer.ownerId,
      description: offer,
      ask: alone && isLarge,
      changed: (status) => flow.show(status),
    });
    this.takes.set(offer.id, { flow, receiving });
  }

  cancel(fileId: string): void {
    this.takes.get(fileId)?.receiving.cancel();
  }

  hear(event: TransferEvent): void {
    for (const { receiving } of this.takes.values()) receiving.hear(event);
  }

  stop(): void {
    for (const { receiving } of this.takes.values()) receiving.cancel();
  }
}
