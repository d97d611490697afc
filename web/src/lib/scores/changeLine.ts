// The changes of one thing in a line: each is made to what the one before it brought, with the ETag of that.

export class ChangeLine<Thing> {
  #last: Promise<Thing> | undefined;

  /**
   * Make a change to what was seen, or to what the changes under way make of it; the last of the line shows what it
   * brought. Where one is refused, so are those behind it, which were made in view of it.
   */
  async make(
    seen: Thing,
    change: (current: Thing) => Promise<Thing>,
    show: (changed: Thing) => void,
  ): Promise<void> {
    const mine = (this.#last ?? Promise.resolve(seen)).then(change);
    this.#last = mine;
    try {
      const changed = await mine;
      if (this.#last === mine) show(changed);
    } finally {
      if (this.#last === mine) this.#last = undefined;
    }
  }

  /** Until no change is under way. */
  async idle(): Promise<void> {
    while (this.#last) await this.#last.catch(() => undefined);
  }
}
