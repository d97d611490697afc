// Remembers the chain's value at places in a content that was read, so that a receiver who comes back need not wait until
// everything before that place has been read again.

const EVERY_CHUNKS = 64;
const VALUE_BYTES = 32;

/** 32 bytes for every 16 MiB; can be posted as they are. */
export class Marks {
  #values: Uint8Array<ArrayBuffer>[] = [];

  constructor(bytes: Uint8Array<ArrayBuffer> = new Uint8Array()) {
    for (let at = 0; at < bytes.length; at += VALUE_BYTES)
      this.#values.push(bytes.slice(at, at + VALUE_BYTES));
  }

  /** The chain after so many chunks; kept if it is in order to. */
  note(chunks: number, value: Uint8Array<ArrayBuffer>): void {
    if (chunks === (this.#values.length + 1) * EVERY_CHUNKS) this.#values.push(value.slice());
  }

  /** The last place not behind `chunks`. */
  before(chunks: number): { chunks: number; value: Uint8Array<ArrayBuffer> } {
    const index = Math.min(Math.floor(chunks / EVERY_CHUNKS), this.#values.length);
    return { chunks: index * EVERY_CHUNKS, value: this.#values[index - 1] ?? new Uint8Array(VALUE_BYTES) };
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#values.length * VALUE_BYTES);
    this.#values.forEach((value, index) => bytes.set(value, index * VALUE_BYTES));
    return bytes;
  }
}
