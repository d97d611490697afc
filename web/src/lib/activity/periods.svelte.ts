// A cache of days or months. Each is read once; those that can still grow are read again.
import { SvelteMap } from 'svelte/reactivity';
import { Problem } from '$lib/api/problems';
import type { Span } from './days';

const ASK_AGAIN_MS = 500;

export type Source<Item> = {
  namesOf: (span: Span) => string[];
  nameOf: (item: Item) => string;
  /** `pending` means that a later answer will have more. */
  read: (span: Span) => Promise<{ items: Item[]; pending: boolean }>;
};

export class Periods<Item> {
  problem = $state<Problem>();
  #known = new SvelteMap<string, Item>();
  #source: Source<Item>;
  #queue: Promise<void> = Promise.resolve();
  #failed: Span | undefined;
  #asking = new SvelteMap<string, ReturnType<typeof setTimeout>>();
  #ended = false;

  constructor(source: Source<Item>) {
    this.#source = source;
  }

  /** Whether some are incomplete and will be asked for again, which happens automatically. */
  get pending(): boolean {
    return this.#asking.size > 0;
  }

  /** All from the first to the last; undefined until all are loaded. */
  of(span: Span): Item[] | undefined {
    const found: Item[] = [];
    for (const name of this.#source.namesOf(span)) {
      const item = this.#known.get(name);
      if (item === undefined) return undefined;
      found.push(item);
    }
    return found;
  }

  /** Read what is missing, one request at a time: the answer to one often covers the next. */
  cover(span: Span): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      const names = this.#source.namesOf(span);
      const missing = names.filter((name) => !this.#known.has(name));
      const [first, last] = [missing[0], missing.at(-1)];
      if (first !== undefined && last !== undefined) await this.renew({ first, last });
    });
    return this.#queue;
  }

  /** Read these, known or not. */
  async renew(span: Span): Promise<void> {
    try {
      const { items, pending } = await this.#source.read(span);
      this.problem = this.#failed = undefined;
      for (const item of items) this.#known.set(this.#source.nameOf(item), item);
      this.#askAgain(span, pending);
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.problem = failure;
      this.#failed = span;
      this.#askAgain(span, false);
    }
  }

  again = (): void => {
    if (this.#failed) void this.renew(this.#failed);
  };

  end(): void {
    this.#ended = true;
    for (const timer of this.#asking.values()) clearTimeout(timer);
  }

  #askAgain(span: Span, wanted: boolean): void {
    const name = `${span.first} ${span.last}`;
    clearTimeout(this.#asking.get(name));
    if (wanted && !this.#ended)
      this.#asking.set(
        name,
        setTimeout(() => void this.renew(span), ASK_AGAIN_MS),
      );
    else this.#asking.delete(name);
  }
}
