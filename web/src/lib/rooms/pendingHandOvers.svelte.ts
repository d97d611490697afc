// Hand-overs in a room that wait for their files: kept beyond the page, since files whose page was closed are in the room
// without anybody having been told.
import type { HandOverOptions } from '$lib/api/transfers';
import type { Shelter } from '$lib/uploads/resumeStore';
import type { RoomFile } from './rooms';

/** To whom: one person, or everybody in the room if none is named. */
export type Target = { roomId: string; person?: { person_id: string; name: string } | undefined };

export type HandOver = { key: string; owner: string; target: Target; options: HandOverOptions };

const PREFIX = 'handing:';
const LOCK = 'satchel-handing:';

export class HandOvers {
  /** Moves on whenever one is kept or forgotten. */
  version = $state(0);
  #shelter: Shelter | undefined;
  /** Browsers have no locks over plain http from another machine; then only this page is known. */
  #here: string[] = [];

  /** Without a shelter (storage is switched off) none outlives the page. */
  constructor(shelter: Shelter | undefined) {
    this.#shelter = shelter;
  }

  /** Keep it until the work says that it is handed over; meanwhile no page takes it for left behind. */
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

  /** Those of one person in one room that no page sees to any more. */
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
    this.#shelter?.removeItem(PREFIX + key);
    this.version++;
  }

  #keep(handOver: HandOver): void {
    try {
      this.#shelter?.setItem(PREFIX + handOver.key, JSON.stringify(handOver));
    } catch {
      // No room left: it does not outlive the page.
    }
  }

  #all(): HandOver[] {
    const keys = Array.from({ length: this.#shelter?.length ?? 0 }, (_, at) => this.#shelter?.key(at) ?? '');
    return keys.filter((key) => key.startsWith(PREFIX)).flatMap((key) => read(this.#shelter?.getItem(key)));
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
