// Lets only so many transfers use the line at once, the others in the order in which they came.
//
// Browsers open six connections to a server at most, and whatever asks for a seventh waits: with all of them
// taken by streams, not even a "cancel" would get through.
export class Semaphore {
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** How many could begin now. */
  get free(): number {
    return this.#free;
  }

  /** Calls back when it is one's turn; the answer gives it back, or leaves the line. */
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
