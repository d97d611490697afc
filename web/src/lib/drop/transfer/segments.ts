// Collects sealed records into segments in one buffer, so that the memory of each record can be reused.
import type { Bytes } from '../crypto/bytes';
import { release } from '../crypto/release';

export class SegmentBuffer {
  readonly #bytes: Bytes;
  #length = 0;
  #added = Promise.resolve();

  constructor(mostBytes: number) {
    this.#bytes = new Uint8Array(mostBytes);
  }

  /** Takes over the next record; calls need not wait for each other. */
  add(record: Promise<Bytes>): void {
    this.#added = Promise.all([record, this.#added]).then(([sealed]) => {
      this.#bytes.set(sealed, this.#length);
      this.#length += sealed.length;
      release(sealed);
    });
    // Whoever takes the segment is told; that nobody does is no fault.
    this.#added.catch(() => undefined);
  }

  /** Everything since the last one was taken. */
  async take(): Promise<Blob> {
    await this.#added;
    // A blob is a copy of what it is made of.
    const segment = new Blob([this.#bytes.subarray(0, this.#length)]);
    this.#length = 0;
    return segment;
  }
}
