// Idempotency keys: a request whose answer was lost is sent again under the same key, so that it is done once.
import { Problem } from './problems';

/** Not `crypto.randomUUID`, which browsers lack over plain http from another machine. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** The keys of requests that were sent and have no answer yet. */
export class RepeatKeys {
  #open = new Map<string, string>();

  /** Send a request under its key, which ends with its answer; `asked` tells one request from another. */
  async once<Result>(asked: unknown, send: (key: string) => Promise<Result>): Promise<Result> {
    const request = JSON.stringify(asked);
    const key = this.#open.get(request) ?? randomKey();
    this.#open.set(request, key);
    try {
      const result = await send(key);
      this.#open.delete(request);
      return result;
    } catch (failure) {
      if (isRefusal(failure)) this.#open.delete(request);
      throw failure;
    }
  }
}

/** Whether the server has said no. Everything else may have been done without our hearing of it. */
function isRefusal(failure: unknown): boolean {
  return failure instanceof Problem && failure.status >= 400 && failure.status < 500;
}
