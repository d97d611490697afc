// Pictures and films cannot renew a session that has run out: something that can is asked for, then they try once more.
import { Problem, renewSession } from '$lib/api/client';

const MOST = 2;

export class Attempts {
  /** Changes with every new attempt. */
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
