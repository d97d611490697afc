// Images and videos cannot renew an expired session: a request that can is sent, then they are retried once.
import { Problem } from '$lib/api/client';
import { renewSession } from '$lib/api/sessionRenewal';

const MOST = 2;

export class Attempts {
  /** Grows with every attempt. */
  failed = $state(0);

  get over(): boolean {
    return this.failed >= MOST;
  }

  async again(): Promise<void> {
    try {
      if (!this.failed) await renewSession();
      this.failed += 1;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.failed = MOST;
    }
  }
}
