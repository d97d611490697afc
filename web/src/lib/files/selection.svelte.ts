// The selection in a list: one, several, a range, or all.
import { SvelteSet } from 'svelte/reactivity';

export class Selection {
  readonly #chosen = new SvelteSet<string>();
  /** Where a range begins. */
  #anchor: string | undefined;

  get size(): number {
    return this.#chosen.size;
  }

  has(id: string): boolean {
    return this.#chosen.has(id);
  }

  only(id: string): void {
    this.#chosen.clear();
    this.#chosen.add(id);
    this.#anchor = id;
  }

  toggle(id: string): void {
    if (!this.#chosen.delete(id)) this.#chosen.add(id);
    this.#anchor = id;
  }

  /** Selects from the anchor to `id`, in the order of `ids`; from `start` if there is no anchor. */
  range(ids: readonly string[], id: string, start = id): void {
    this.#anchor = this.#anchor !== undefined && ids.includes(this.#anchor) ? this.#anchor : start;
    const [from, to] = [ids.indexOf(this.#anchor), ids.indexOf(id)].sort((one, other) => one - other);
    this.#chosen.clear();
    for (const each of ids.slice(from, (to ?? 0) + 1)) this.#chosen.add(each);
  }

  all(ids: Iterable<string>): void {
    for (const id of ids) this.#chosen.add(id);
  }

  clear(): void {
    this.#chosen.clear();
    this.#anchor = undefined;
  }

  /** Deselects what is gone. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#chosen) if (!ids.has(id)) this.#chosen.delete(id);
  }
}
