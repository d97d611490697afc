// Idempotency keys: a request whose answer was lost is sent again under the same key, so that it is done once.
import { isUnanswered, Problem, unknownOutcome } from './problems';

const PAUSES_MS: readonly number[] = [500, 2000];

/** Not `crypto.randomUUID`, which browsers lack over plain http from another machine. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** The keys of requests that were sent and have no answer yet. */
export class RepeatKeys {
  #open = new Map<string, string>();
  readonly #pausesMs: readonly number[];

  constructor(pausesMs = PAUSES_MS) {
    this.#pausesMs = pausesMs;
  }

  /**
   * Send a request under its key, which ends with its answer; `asked` tells one request from another. If the answer is
   * lost, it is sent again a few times; whoever then asks once more does so under the same key.
   */
  async once<Result>(asked: unknown, send: (key: string) => Promise<Result>): Promise<Result> {
    const request = JSON.stringify(asked);
    const key = this.#open.get(request) ?? randomKey();
    this.#open.set(request, key);
    try {
      const result = await this.#answered(() => send(key));
      this.#open.delete(request);
      return result;
    } catch (failure) {
      if (isRefusal(failure)) this.#open.delete(request);
      throw isUnanswered(failure) ? unknownOutcome(failure) : failure;
    }
  }

  async #answered<Result>(send: () => Promise<Result>): Promise<Result> {
    for (const pauseMs of this.#pausesMs) {
      try {
        return await send();
      } catch (failure) {
        if (!isUnanswered(failure)) throw failure;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return send();
  }
}

/** Whether the server has said no. Everything else may have been done without our hearing of it. */
function isRefusal(failure: unknown): boolean {
  return failure instanceof Problem && failure.status >= 400 && failure.status < 500;
}
