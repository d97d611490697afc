// Images and videos cannot renew an expired session: a request that can is sent, then they are tried again.
import { Problem } from '$lib/api/client';
import { renewSession } from '$lib/api/sessionRenewal';

const MOST = 2;

export class Attempts {
  /** Grows with every attempt. */
  failed = $state(0);
  readonly #most: number;
  readonly #pauseMs: number;

  /** With a pause, the second and every later attempt waits twice as long as the one before. */
  constructor({ most = MOST, pauseMs = 0 }: { most?: number; pauseMs?: number } = {}) {
    this.#most = most;
    this.#pauseMs = pauseMs;
  }

  get over(): boolean {
    return this.failed >= this.#most;
  }

  async again(): Promise<void> {
    const failed = this.failed;
    try {
      if (!failed) await renewSession();
      if (this.#pauseMs) await new Promise((wake) => setTimeout(wake, this.#pauseMs * 2 ** failed));
      this.failed += 1;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.failed = this.#most;
    }
  }
}
