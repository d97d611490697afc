// Loads a part of a page from the server: its data, that it is still loading, or a problem and a retry.
import { Problem } from '$lib/api/problems';

export class Loader<Data> {
  data = $state.raw<Data>();
  problem = $state<Problem>();
  #read: () => Promise<Data>;
  #running: Promise<void> | undefined;

  constructor(read: () => Promise<Data>) {
    this.#read = read;
    void this.again();
  }

  /** Load, or load again after a problem. The old data stays until the new is here; concurrent calls load once. */
  again = (): Promise<void> => {
    this.#running ??= this.#attempt().finally(() => (this.#running = undefined));
    return this.#running;
  };

  async #attempt(): Promise<void> {
    this.problem = undefined;
    try {
      this.data = await this.#read();
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.problem = failure;
    }
  }
}

/** A list that comes in pages. */
export class PagedLoader<Item> {
  items = $state.raw<Item[]>();
  more = $state(false);
  #cursor: string | null = null;
  #loader: Loader<void>;

  constructor(read: (cursor: string | null) => Promise<{ items: Item[]; cursor: string | null }>) {
    this.#loader = new Loader(async () => {
      const before = this.#cursor ? (this.items ?? []) : [];
      const page = await read(this.#cursor);
      this.items = [...before, ...page.items];
      this.#cursor = page.cursor;
      this.more = page.cursor !== null;
    });
  }

  get problem(): Problem | undefined {
    return this.#loader.problem;
  }

  /** The next page; after a problem, the one that failed. */
  next = (): Promise<void> => this.#loader.again();

  /** From the start. */
  restart = (): Promise<void> => {
    this.#cursor = null;
    return this.#loader.again();
  };
}
