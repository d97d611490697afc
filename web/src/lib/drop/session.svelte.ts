// A session of the drop as a member in this tab sees it: read, then kept up to date by live events, and read again
// after a silence. Everything that was sealed is opened here and nowhere else.
import { Problem } from '$lib/api/problems';
import { t } from '$lib/i18n/index.svelte';
import { Connection, type Socket, type State } from '$lib/live/connection';
import type { Hello } from '$lib/live/frames';
import { watchOver } from '$lib/live/networkWatch';
import { toasts } from '$lib/ui/toasts.svelte';
import { MemberCalls, type RequestView, type SessionView } from './calls';
import type { Keys, Secret } from './crypto/keys';
import type { DoorCode } from './door';
import { Doorway } from './doorway.svelte';
import { read, type Closing, type DropEvent } from './events';
import { OwnOffers } from './ownOffers.svelte';
import { byName, openMember, openOffer, withEach, type Member, type Offer } from './sessionViews';
import { claim, forget, remember, type Remembered } from './tabMemory';
import { TakenFiles } from './takenFiles.svelte';
import type { Access, Content } from './transfer/contentTransfer';
import { stayAwake } from './wakeLock';

export type Ending = Closing | 'unknown';
/** `linkBase` is what stands before the `#` of its link. */
export type Facts = { sessionId: string; name: string; memberId: string; token: string; linkBase: string };

export class DropSession {
  readonly name: string;
  /** By which the others know us. */
  readonly you: string;
  readonly link: string;
  readonly ownOffers: OwnOffers;
  readonly takenFiles: TakenFiles;
  readonly doorway: Doorway;

  members = $state.raw<Member[]>([]);
  offers = $state.raw<Offer[]>([]);
  requests = $state.raw<RequestView[]>([]);
  hostId = $state('');
  doorId = $state<string | null>(null);
  /** Nobody else may join. */
  isLocked = $state(false);
  line = $state<State>('off');
  isRead = $state(false);
  problem = $state.raw<Problem>();
  /** Why one is not in it any more. */
  ended = $state<Ending>();

  readonly theirs = $derived.by(() => byName(this.offers.filter(({ ownerId }) => ownerId !== this.you)));
  readonly ours = $derived.by(() => byName(this.offers.filter(({ ownerId }) => ownerId === this.you)));

  #keys: Keys;
  #calls: MemberCalls;
  #remembered: Remembered;
  #connection: Connection<DropEvent>;
  /** Events are handled one at a time, in order. */
  #queue: Promise<void> = Promise.resolve();
  #stop: () => void;

  constructor(facts: Facts, secret: Secret, keys: Keys, door?: DoorCode) {
    const { sessionId, name, memberId, token } = facts;
    this.name = name;
    this.you = memberId;
    this.link = `${facts.linkBase}#${secret.fragment}`;
    this.#keys = keys;
    this.#calls = new MemberCalls(sessionId, token);
    this.#remembered = { ...facts, secret: secret.fragment, door };
    const access: Access = { memberId, token, keys: keys.material };
    this.ownOffers = new OwnOffers(access, keys, this.#calls);
    this.takenFiles = new TakenFiles(access);
    this.doorway = new Doorway({ name, sessionId }, secret, this.#calls, (code) => this.#keep(code), door);
    this.#connection = new Connection<DropEvent>(
      {
        dial: () => dial(sessionId, token),
        read,
        isRecognised: () => this.#isRecognised(),
        random: Math.random,
      },
      (event) => this.#heard(event),
      (state) => this.#turned(state),
    );
    remember(this.#remembered);
    this.#stop = this.#follow();
  }

  get isHost(): boolean {
    return this.hostId === this.you;
  }

  /** Something is on its way, and would stop if the page were closed. */
  get isMoving(): boolean {
    return this.ownOffers.isMoving || this.takenFiles.isMoving;
  }

  member(id: string): Member | undefined {
    return this.members.find((each) => each.id === id);
  }

  async announce(contents: readonly Content[]): Promise<void> {
    await this.ownOffers.announce(contents);
  }

  async withdraw(fileId: string): Promise<void> {
    await this.ownOffers.withdraw(fileId);
    this.#withdrawn([fileId]);
  }

  /** Who is removed still knows the secret. Only a lock that comes first keeps them out. */
  async remove(memberId: string, andLock: boolean): Promise<void> {
    if (andLock) await this.setLock(true);
    await this.#calls.remove(memberId);
  }

  async setLock(isLocked: boolean): Promise<void> {
    await this.#calls.setLock(isLocked);
    this.isLocked = isLocked;
  }

  async takeDoor(): Promise<void> {
    await this.#calls.takeDoor();
    this.doorId = this.you;
    this.doorway.open();
  }

  async leave(): Promise<void> {
    await this.#calls.remove(this.you);
    this.end('left');
  }

  async close(): Promise<void> {
    await this.#calls.close();
    this.end('closed');
  }

  end(why: Ending): void {
    if (this.ended) return;
    this.ended = why;
    this.takenFiles.stop();
    this.ownOffers.stop();
    this.doorway.shut();
    this.#stop();
    forget(this.#remembered);
  }

  #follow(): () => void {
    const release = claim(this.you);
    const stopWatching = watchOver(this.#connection);
    // Outside of any page, since people go on to other pages meanwhile.
    const stopWaking = $effect.root(() => {
      $effect(() => (this.isMoving ? stayAwake() : undefined));
    });
    this.#connection.start();
    return () => {
      stopWatching();
      stopWaking();
      this.#connection.stop();
      release();
    };
  }

  #keep(door: DoorCode | undefined): void {
    if (this.ended) return;
    this.#remembered = { ...this.#remembered, door };
    remember(this.#remembered);
  }

  #turned(state: State): void {
    this.line = state;
    if (state === 'connected') this.#next(() => this.#readAll());
  }

  #heard(event: DropEvent | Hello): void {
    if (event.type === 'hello') return;
    this.#next(() => (event.type === 'resync' ? this.#readAll() : this.#apply(event)));
  }

  #next(work: () => Promise<void> | void): void {
    const done = this.#queue.then(async () => {
      if (this.ended) return;
      try {
        await work();
      } catch (failure) {
        if (!(failure instanceof Problem)) throw failure;
        if (failure.slug === 'session-unknown') this.end('unknown');
        else this.problem = failure;
      }
    });
    // A fault of ours is told to whoever looks at the console, and holds up nothing that comes after.
    this.#queue = done.catch(() => undefined);
  }

  async #readAll(): Promise<void> {
    const view = await this.#calls.read();
    const members = await Promise.all(view.members.map((each) => openMember(this.#keys, each)));
    const offers = await Promise.all(view.files.map((each) => openOffer(this.#keys, each)));
    this.members = withEach([], members);
    this.offers = withEach([], offers);
    this.requests = view.requests;
    this.hostId = view.host_id;
    this.isLocked = view.is_locked;
    this.isRead = true;
    this.problem = undefined;
    await this.#forgetLost(view);
    this.#followDoor(view.door_id);
    // What was confirmed while we did not listen.
    for (const receipt of view.receipts) this.ownOffers.hear({ type: 'drop.done', ...receipt });
    this.ownOffers.hear({ type: 'requests', requests: view.requests });
    this.takenFiles.hear({ type: 'requests', requests: view.requests });
  }

  /** After a reload the browser has no hold of what was announced before; it cannot be sent any more. */
  async #forgetLost({ files }: SessionView): Promise<void> {
    const lost = files.filter(
      ({ file_id, owner_id }) => owner_id === this.you && !this.ownOffers.contents.has(file_id),
    );
    for (const { file_id } of lost) await unlessGone(this.#calls.withdraw(file_id));
    this.#withdrawn(lost.map(({ file_id }) => file_id));
  }

  #followDoor(doorId: string | null): void {
    this.doorId = doorId;
    if (doorId === this.you) this.doorway.open();
    else this.doorway.shut();
  }

  async #apply(event: DropEvent): Promise<void> {
    switch (event.type) {
      case 'drop.member':
        this.members = withEach(this.members, [await openMember(this.#keys, event.member)]);
        break;
      case 'drop.left':
        this.#left(event.member_id);
        // Who is host then, only the server knows.
        if (event.member_id === this.hostId) await this.#readAll();
        break;
      case 'drop.files':
        this.offers = withEach(
          this.offers,
          await Promise.all(event.files.map((each) => openOffer(this.#keys, each))),
        );
        break;
      case 'drop.withdrawn':
        this.#withdrawn(event.file_ids);
        break;
      case 'drop.door':
        this.#followDoor(event.door_id);
        break;
      case 'drop.lock':
        this.isLocked = event.is_locked;
        break;
      case 'drop.closed':
        this.end(event.reason);
        break;
      case 'drop.knock':
        // Not waited for: what a guest does must hold up nothing else.
        void this.doorway.knock(event);
        break;
      case 'drop.tag':
        void this.doorway.tag(event);
        break;
      case 'resync':
        break;
      default:
        this.#flowed(event);
    }
  }

  #flowed(event: Extract<DropEvent, { type: 'drop.request' } | { request_id: string }>): void {
    const id = event.type === 'drop.request' ? event.request.request_id : event.request_id;
    const others = this.requests.filter(({ request_id }) => request_id !== id);
    if (event.type === 'drop.request') this.requests = [...others, event.request];
    else if (event.type === 'drop.progress')
      this.requests = this.requests.map((each) =>
        each.request_id === id ? { ...each, chunks: event.chunks } : each,
      );
    else this.requests = others;
    this.ownOffers.hear(event);
    this.takenFiles.hear(event);
  }

  #left(memberId: string): void {
    if (memberId === this.you) return this.end('removed');
    this.#sayLost(this.offers.filter(({ ownerId }) => ownerId === memberId));
    this.members = this.members.filter(({ id }) => id !== memberId);
    this.offers = this.offers.filter(({ ownerId }) => ownerId !== memberId);
  }

  #withdrawn(fileIds: readonly string[]): void {
    this.#sayLost(this.offers.filter(({ id }) => fileIds.includes(id)));
    this.offers = this.offers.filter(({ id }) => !fileIds.includes(id));
    fileIds.forEach((id) => this.ownOffers.forget(id));
  }

  /** What is no longer offered is no longer shown; whoever is taking it should know why. */
  #sayLost(offers: readonly Offer[]): void {
    for (const { id, name, ownerId } of offers) {
      if (!this.takenFiles.flowOf(id)?.isMoving) continue;
      const owner = this.member(ownerId)?.name ?? t('drop.somebody');
      toasts.bad(`${name}: ${t('drop.flow.gone', { name: owner })}`);
    }
  }

  async #isRecognised(): Promise<boolean> {
    try {
      await this.#calls.read();
      return true;
    } catch (problem) {
      if (!(problem instanceof Problem && problem.status === 404)) throw problem;
      this.end('unknown');
      return false;
    }
  }
}

/** Somebody else, the host, was faster. */
async function unlessGone(withdrawn: Promise<void>): Promise<void> {
  try {
    await withdrawn;
  } catch (failure) {
    if (!(failure instanceof Problem && failure.slug === 'file-unknown')) throw failure;
  }
}

function dial(sessionId: string, token: string): Socket {
  const address = `${location.origin.replace(/^http/, 'ws')}/api/v1/drop/sessions/${sessionId}/live`;
  return new WebSocket(address, ['satchel.drop.1', token]) as unknown as Socket;
}
