// A paged list of entries as far as it is loaded, updated by what is done here and by what arrives.
import { Problem } from '$lib/api/client';
import type { Cursor, Entry, Slice } from './entries';
import { merged, placed, without, type Order } from './order';

export class Listing<Item extends Entry = Entry> {
  entries = $state.raw<Item[]>([]);
  problem = $state.raw<Problem>();
  loaded = $state(false);
  loading = $state(false);
  #cursor = $state.raw<Cursor>(null);
  #read: (cursor: Cursor) => Promise<Slice<Item>>;
  #order: Order | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(read: (cursor: Cursor) => Promise<Slice<Item>>, order?: Order) {
    this.#read = read;
    this.#order = order;
  }

  get hasMore(): boolean {
    return this.#cursor !== null;
  }

  get empty(): boolean {
    return this.loaded && !this.entries.length;
  }

  /** Read again as much as is shown; the old entries stay until the new ones are here. */
  refresh = (): Promise<void> =>
    this.#enqueue(async () => {
      const wanted = this.entries.length;
      let page = await this.#read(null);
      const entries = page.entries;
      while (entries.length < wanted && page.cursor !== null) {
        page = await this.#read(page.cursor);
        entries.push(...page.entries);
      }
      this.entries = entries;
      this.#cursor = page.cursor;
      this.loaded = true;
    });

  more = (): Promise<void> =>
    this.#enqueue(async () => {
      if (this.#cursor === null) return;
      const page = await this.#read(this.#cursor);
      // What was added here meanwhile may stand in this page, too.
      this.entries = merged(this.entries, page.entries);
      this.#cursor = page.cursor;
    });

  /** Everything that there is, for those who want to choose it all. */
  async whole(): Promise<void> {
    while (this.hasMore && !this.problem) await this.more();
  }

  put(entry: Item): void {
    if (this.#order) this.entries = placed(this.entries, entry, this.#order);
    else this.entries = this.entries.map((each) => (each.id === entry.id ? { ...each, ...entry } : each));
  }

  drop(gone: readonly { id: string }[]): void {
    this.entries = without(this.entries, gone);
  }

  /** One read at a time, or two pages could overwrite each other. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#running = this.#running.then(() => this.#attempt(work));
    return this.#running;
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.loading = true;
    try {
      await work();
      this.problem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.problem = failure;
    } finally {
      this.loading = false;
    }
  }
}
