// Requests that wait for the server: after five seconds pages say so, and after two minutes without an answer they end.

const SAID_AFTER_MS = 5_000;
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

/** `fetch`, that ends without an answer: a connection that hangs would keep its place from others for ever. */
export async function fetchEnding(request: Request, headMs = ENDED_AFTER_MS): Promise<Response> {
  const end = new AbortController();
  const follow = (): void => end.abort(request.signal.reason);
  if (request.signal.aborted) follow();
  request.signal.addEventListener('abort', follow, { once: true });
  const timer = setTimeout(() => end.abort(new DOMException('no answer', 'TimeoutError')), headMs);
  try {
    // The body may take as long as the line needs.
    return await fetch(new Request(request, { signal: end.signal }));
  } finally {
    clearTimeout(timer);
  }
}
