// What somebody has done here that the server does not have yet, kept on the device by account and thing until it has.
import { randomKey } from '$lib/api/repeatKeys';

/** A change as it is kept. `tab` is the page that is about to send it; another takes it up when that one is gone. */
type Kept<Change> = { at?: number; personId: string; thing: string; tab: string; change: Change };
/** A change, and where it stands in the order of all. */
export type Claimed<Change> = { at: number; change: Change };

const NAME = 'satchel-outbox';
const STORE = 'changes';
const BY_PERSON = 'personId';
const HOLDS = 'satchel-tab-';
const TAB = randomKey();

class Outbox {
  /** How many of this person's changes wait on this device. */
  count = $state(0);
  #database: Promise<IDBDatabase> | undefined;
  #holds = false;

  /** Keep a change; undefined where the device cannot. */
  async keep(personId: string, thing: string, change: unknown): Promise<number | undefined> {
    this.#hold();
    const kept: Kept<unknown> = { personId, thing, tab: TAB, change };
    const at = await this.#run('readwrite', (store) => store.add(kept)).catch(() => undefined);
    await this.#recount(personId);
    return at as number | undefined;
  }

  /** Write a change that is kept anew: what it refers to is known better. */
  async amend(at: number, personId: string, thing: string, change: unknown): Promise<void> {
    const kept: Kept<unknown> = { at, personId, thing, tab: TAB, change };
    await this.#run('readwrite', (store) => store.put(kept)).catch(() => undefined);
  }

  async drop(at: number, personId: string): Promise<void> {
    await this.#run('readwrite', (store) => store.delete(at)).catch(() => undefined);
    await this.#recount(personId);
  }

  /** Leave changes to whoever comes next. */
  async release(places: readonly number[]): Promise<void> {
    await this.#each((kept) => (places.includes(kept.at ?? -1) ? { ...kept, tab: '' } : undefined)).catch(
      () => undefined,
    );
  }

  /** Take up what was left of a thing, in its order. Nobody else gets it then. */
  async claim<Change>(personId: string, thing: string): Promise<Claimed<Change>[]> {
    this.#hold();
    const alive = await liveTabs();
    const claimed: Claimed<Change>[] = [];
    await this.#each((kept) => {
      if (kept.personId !== personId || kept.thing !== thing || alive.has(kept.tab)) return undefined;
      claimed.push({ at: kept.at ?? 0, change: kept.change as Change });
      return { ...kept, tab: TAB };
    }).catch(() => undefined);
    return claimed;
  }

  /** The things of which something was left; how much waits is counted anew. */
  async left(personId: string): Promise<string[]> {
    await this.#recount(personId);
    const alive = await liveTabs();
    const found = (await this.#run('readonly', (store) => store.index(BY_PERSON).getAll(personId)).catch(
      () => [],
    )) as Kept<unknown>[];
    return [...new Set(found.filter(({ tab }) => !alive.has(tab)).map(({ thing }) => thing))];
  }

  /** Whoever signs out takes nothing along. */
  async clear(personId: string): Promise<void> {
    await this.#each((kept) => (kept.personId === personId ? null : undefined)).catch(() => undefined);
    this.count = 0;
  }

  /** The device answers in the order in which it was asked, so the last answer holds. */
  async #recount(personId: string): Promise<void> {
    this.count = await this.#run('readonly', (store) => store.index(BY_PERSON).count(personId)).catch(
      () => 0,
    );
  }

  /** Rewrite what `change` answers, and delete where it answers null, in one step. */
  async #each(change: (kept: Kept<unknown>) => Kept<unknown> | null | undefined): Promise<void> {
    const store = (await this.#open()).transaction(STORE, 'readwrite').objectStore(STORE);
    await new Promise<void>((resolve, reject) => {
      const walk = store.openCursor();
      walk.onerror = () => reject(walk.error ?? new Error('The outbox cannot be read.'));
      walk.onsuccess = () => {
        const cursor = walk.result;
        if (!cursor) return resolve();
        const next = change(cursor.value as Kept<unknown>);
        if (next === null) cursor.delete();
        else if (next) cursor.update(next);
        cursor.continue();
      };
    });
  }

  async #run<Result>(
    mode: IDBTransactionMode,
    work: (store: IDBObjectStore) => IDBRequest<Result>,
  ): Promise<Result> {
    const transaction = (await this.#open()).transaction(STORE, mode);
    const request = work(transaction.objectStore(STORE));
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error ?? new Error('The outbox cannot be written.'));
    });
  }

  #open(): Promise<IDBDatabase> {
    this.#database ??= new Promise((resolve, reject) => {
      const opening = indexedDB.open(NAME, 1);
      opening.onupgradeneeded = () =>
        opening.result
          .createObjectStore(STORE, { keyPath: 'at', autoIncrement: true })
          .createIndex(BY_PERSON, BY_PERSON);
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error ?? new Error('The outbox cannot be opened.'));
    });
    return this.#database;
  }

  /** Others see by it that this page is still there. */
  #hold(): void {
    if (this.#holds || !('locks' in navigator)) return;
    this.#holds = true;
    void navigator.locks.request(HOLDS + TAB, () => new Promise(() => undefined));
  }
}

/** Over plain http from another machine nobody can tell which pages are there: then only this one is. */
async function liveTabs(): Promise<ReadonlySet<string>> {
  const { held = [] } = 'locks' in navigator ? await navigator.locks.query() : {};
  const names = held.flatMap(({ name }) => (name?.startsWith(HOLDS) ? [name.slice(HOLDS.length)] : []));
  return new Set([TAB, ...names]);
}

export const outbox = new Outbox();
