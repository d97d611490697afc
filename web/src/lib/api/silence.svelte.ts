// Requests that wait for the server: after five seconds pages say so, and after two minutes a request ends.

const SAID_AFTER_MS = 5_000;
// Longer than anything that pages ask for takes where nothing is wrong.
const ENDED_AFTER_MS = 120_000;

class Silence {
  #waiting = $state(0);

  /** Whether something has had no answer for five seconds. */
  get isLong(): boolean {
    return this.#waiting > 0;
  }

  async until<Answered>(answer: Promise<Answered>): Promise<Answered> {
    let isSaid = false;
    const timer = setTimeout(() => {
      isSaid = true;
      this.#waiting += 1;
    }, SAID_AFTER_MS);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      if (isSaid) this.#waiting -= 1;
    }
  }
}

export const silence = new Silence();

/** The same request, that ends by itself: a connection that hangs would keep its place from others for ever. */
export function ending(request: Request): Request {
  const end = new AbortController();
  const follow = (): void => end.abort(request.signal.reason);
  if (request.signal.aborted) follow();
  request.signal.addEventListener('abort', follow, { once: true });
  // It covers the body of the answer, too, so nobody knows when to clear it. Late it does nothing.
  setTimeout(() => end.abort(new DOMException('no answer', 'TimeoutError')), ENDED_AFTER_MS);
  return new Request(request, { signal: end.signal });
}
