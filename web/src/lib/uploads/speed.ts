// Measures the speed of a transfer, smoothed, and falling when nothing moves.

const CALM_SECONDS = 4;
const SHORTEST_SECONDS = 0.25;

export class Speed {
  #bytes = 0;
  #at: number | undefined;
  #rate: number | undefined;

  /** So many bytes are sent in all, at this moment in seconds. */
  add(bytes: number, at: number): void {
    // After a resume, the bytes in between were not sent just now.
    if (this.#at === undefined || bytes < this.#bytes) {
      this.#bytes = bytes;
      this.#at = at;
      return;
    }
    const passed = at - this.#at;
    if (passed < SHORTEST_SECONDS) return;
    this.#rate = mixed(this.#rate, (bytes - this.#bytes) / passed, passed);
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Bytes per second; it falls while nothing is added. Unknown at the beginning. */
  rate(at: number): number | undefined {
    if (this.#at === undefined || this.#rate === undefined) return undefined;
    const silent = at - this.#at;
    return silent < 1 ? this.#rate : mixed(this.#rate, 0, silent - 1);
  }
}

/** Seconds until the rest is sent; unknown when next to nothing moves. */
export function secondsLeft(bytes: number, rate: number | undefined): number | undefined {
  return rate === undefined || rate < 1 ? undefined : bytes / rate;
}

/** The older a rate, the less it counts. */
function mixed(before: number | undefined, now: number, seconds: number): number {
  if (before === undefined) return now;
  return now + (before - now) * Math.exp(-seconds / CALM_SECONDS);
}
