// A semaphore: only so many transfers use the network at once; the others wait in order.
//
// Browsers open at most six connections to a server, and a seventh request waits: with all of them
// taken by streams, not even a "cancel" would get through.
export class Semaphore {
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** How many slots are free. */
  get free(): number {
    return this.#free;
  }

  /** Calls `begin` when a slot is free. The returned function releases the slot, or leaves the queue. */
  acquire(begin: () => void): () => void {
    if (this.#free > 0) {
      this.#free -= 1;
      begin();
    } else {
      this.#waiting.push(begin);
    }
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      if (this.#waiting.includes(begin)) this.#waiting = this.#waiting.filter((each) => each !== begin);
      else this.#next();
    };
  }

  #next(): void {
    const begin = this.#waiting.shift();
    if (begin) begin();
    else this.#free += 1;
  }
}
