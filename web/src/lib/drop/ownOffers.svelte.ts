// What this member offers in a session: announces it, sends it to everybody who takes it, withdraws it.
import { SvelteMap } from 'svelte/reactivity';
import { t } from '$lib/i18n/index.svelte';
import { act } from '$lib/shell/action';
import { toasts } from '$lib/ui/toasts.svelte';
import type { MemberCalls } from './calls';
import { newId, toBase64 } from './crypto/bytes';
import type { Keys } from './crypto/keys';
import { Flow } from './flow.svelte';
import {
  startSender,
  type Access,
  type Content,
  type RequestView,
  type Sender,
  type TransferEvent,
} from './transfer/contentTransfer';

/** One receiver who takes, or has taken, one of our files. */
export type Delivery = { id: string; fileId: string; receiverId: string; flow: Flow; sending: Sender };

// The server takes at most this many at once.
const AT_ONCE = 100;

export class OwnOffers {
  readonly contents = new SvelteMap<string, Content>();
  deliveries = $state.raw<Delivery[]>([]);
  /** A taker who broke off may come back or not; nobody has to stay awake for that. */
  readonly isMoving = $derived(
    this.deliveries.some(({ flow }) => flow.isMoving && flow.status.stage !== 'broken'),
  );
  #access: Access;
  #keys: Keys;
  #calls: MemberCalls;

  constructor(access: Access, keys: Keys, calls: MemberCalls) {
    this.#access = access;
    this.#keys = keys;
    this.#calls = calls;
  }

  async announce(contents: readonly Content[]): Promise<void> {
    for (let from = 0; from < contents.length; from += AT_ONCE) {
      const batch = contents.slice(from, from + AT_ONCE).map((content) => ({ id: newId(), content }));
      // Known before the server tells anybody, who might ask for it at once.
      for (const { id, content } of batch) this.contents.set(id, content);
      try {
        await this.#calls.announce(await Promise.all(batch.map((each) => this.#sealed(each))));
      } catch (failure) {
        for (const { id } of batch) this.contents.delete(id);
        throw failure;
      }
    }
  }

  async withdraw(fileId: string): Promise<void> {
    await this.#calls.withdraw(fileId);
    this.forget(fileId);
  }

  forget(fileId: string): void {
    this.contents.delete(fileId);
    for (const { sending } of this.deliveries.filter((each) => each.fileId === fileId)) sending.cancel();
    this.deliveries = this.deliveries.filter((each) => each.fileId !== fileId);
  }

  hear(event: TransferEvent): void {
    if (event.type === 'requests') return this.#compare(event.requests);
    const isOurs = this.deliveries.map(({ sending }) => sending.hear(event)).some(Boolean);
    if (event.type === 'drop.request' && !isOurs) this.#serve(event.request);
  }

  stop(): void {
    for (const { sending } of this.deliveries) sending.cancel();
  }

  /** After a lost connection: serve new requests, and end those that are gone. */
  #compare(requests: readonly RequestView[]): void {
    for (const request of requests) this.hear({ type: 'drop.request', request });
    const open = requests.map(({ request_id }) => request_id);
    for (const { sending } of this.deliveries) {
      const { requestId } = sending;
      if (!open.includes(requestId)) sending.hear({ type: 'drop.ended', request_id: requestId });
    }
  }

  #serve(request: RequestView): void {
    const content = this.contents.get(request.file_id);
    if (request.owner_id !== this.#access.memberId || request.acknowledged || !content) return;
    const flow = new Flow();
    const { request_id: id, file_id: fileId, receiver_id: receiverId } = request;
    const sending = startSender({
      access: this.#access,
      content,
      request,
      changed: (status) => {
        flow.show(status);
        if (status.failure?.kind === 'changed') void this.#takeBack(fileId, content.description.name);
      },
    });
    // Who takes it once more is one taker, not two.
    const others = this.deliveries.filter(
      (each) => each.fileId !== fileId || each.receiverId !== receiverId || !each.sending.isOver,
    );
    this.deliveries = [...others, { id, fileId, receiverId, flow, sending }];
  }

  async #takeBack(fileId: string, name: string): Promise<void> {
    if (!this.contents.has(fileId)) return;
    toasts.bad(t('drop.changedHere', { name }));
    await act(() => this.withdraw(fileId));
  }

  async #sealed({
    id,
    content,
  }: {
    id: string;
    content: Content;
  }): Promise<{ file_id: string; sealed: string }> {
    const sealed = await this.#keys.announce(id, this.#access.memberId, content.description);
    return { file_id: id, sealed: toBase64(sealed) };
  }
}
