// Hand-overs in a room that wait for their files. They are stored, because files whose page was closed are in the room
// without anybody having been told.
import type { HandOverOptions } from '$lib/api/transfers';
import type { BrowserStorage } from '$lib/uploads/resumeStore';
import type { RoomFile } from './rooms';

/** To whom: one person, or everybody in the room if none is named. */
export type Target = { roomId: string; person?: { person_id: string; name: string } | undefined };

export type HandOver = { key: string; owner: string; target: Target; options: HandOverOptions };

const PREFIX = 'handing:';
const LOCK = 'satchel-handing:';

export class HandOvers {
  /** Grows whenever one is stored or forgotten. */
  version = $state(0);
  #storage: BrowserStorage | undefined;
  /** Browsers have no locks over plain http from another machine; then only this page is known. */
  #here: string[] = [];

  /** Without storage (people can switch it off) none outlives the page. */
  constructor(storage: BrowserStorage | undefined) {
    this.#storage = storage;
  }

  /** Store it until `work` reports that it is handed over; a lock tells other pages that it is not abandoned. */
  async carry(handOver: HandOver, work: () => Promise<boolean>): Promise<void> {
    const { key } = handOver;
    this.#keep(handOver);
    this.#here.push(key);
    try {
      const done =
        'locks' in navigator ? await navigator.locks.request(LOCK + key, () => work()) : await work();
      if (done) this.forget(key);
    } finally {
      this.#here = this.#here.filter((each) => each !== key);
      this.version++;
    }
  }

  /** The hand-overs of one person in one room that no open page handles any more. */
  async leftBehind(owner: string, roomId: string): Promise<HandOver[]> {
    const { held = [] } = 'locks' in navigator ? await navigator.locks.query() : {};
    const names = held.map(({ name }) => name);
    return this.#all().filter(
      (each) =>
        each.owner === owner &&
        each.target.roomId === roomId &&
        !this.#here.includes(each.key) &&
        !names.includes(LOCK + each.key),
    );
  }

  forget(key: string): void {
    this.#storage?.removeItem(PREFIX + key);
    this.version++;
  }

  #keep(handOver: HandOver): void {
    try {
      this.#storage?.setItem(PREFIX + handOver.key, JSON.stringify(handOver));
    } catch {
      // No room left: it does not outlive the page.
    }
  }

  #all(): HandOver[] {
    const keys = Array.from({ length: this.#storage?.length ?? 0 }, (_, at) => this.#storage?.key(at) ?? '');
    return keys.filter((key) => key.startsWith(PREFIX)).flatMap((key) => read(this.#storage?.getItem(key)));
  }
}

/** What one has brought for the same receiver, and that nobody has been told of. */
export function filesOf({ owner, target }: HandOver, files: readonly RoomFile[]): RoomFile[] {
  const receiver = target.person?.person_id ?? null;
  return files.filter(({ by, to, transfer_id }) => by === owner && transfer_id === null && to === receiver);
}

function read(text: string | null | undefined): HandOver[] {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return isHandOver(value) ? [value] : [];
  } catch {
    return [];
  }
}

/** Other versions of the app, and other people, write into the same storage. */
function isHandOver(value: unknown): value is HandOver {
  if (typeof value !== 'object' || value === null) return false;
  const { key, owner, target, options } = value as Record<string, unknown>;
  return (
    typeof key === 'string' &&
    typeof owner === 'string' &&
    typeof options === 'object' &&
    typeof (target as Target | undefined)?.roomId === 'string'
  );
}
