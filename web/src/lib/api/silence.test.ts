import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ask, patiently, renewing } from './client';
import { Problem } from './problems';
import { silence } from './silence.svelte';

/** A server that takes requests and answers none; a request ends when somebody ends it. */
function hanging(request: Request): Promise<Response> {
  return new Promise((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
  });
}

function asked(signal?: AbortSignal): Promise<unknown> {
  const request = new Request('http://satchel.example/api/v1/whoami', signal ? { signal } : {});
  return ask(renewing(request).then((response) => ({ data: 'known', response })));
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', hanging);
  vi.stubGlobal('navigator', { onLine: true });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('says after five seconds that the server is silent, and ends the request some time', async () => {
  const answer = asked().catch((failure: unknown) => failure);
  await vi.advanceTimersByTimeAsync(4_900);
  expect(silence.isLong).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(silence.isLong).toBe(true);
  await vi.advanceTimersByTimeAsync(120_000);
  const failure = await answer;
  expect(failure).toBeInstanceOf(Problem);
  expect((failure as Problem).slug).toBe('unreachable');
  expect(silence.isLong).toBe(false);
});

it('says nothing of an answer that comes in time, and no more once a late one is there', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response()));
  await asked();
  let arrive: ((response: Response) => void) | undefined;
  vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => (arrive = resolve)));
  const late = asked();
  await vi.advanceTimersByTimeAsync(6_000);
  expect(silence.isLong).toBe(true);
  arrive?.(new Response());
  await expect(late).resolves.toBe('known');
  expect(silence.isLong).toBe(false);
});

it('lets whoever asked give up themselves', async () => {
  const giveUp = new AbortController();
  const answer = asked(giveUp.signal);
  giveUp.abort();
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
});

/** A server that answers at once, and sends five bytes, one a minute. */
function slow({ signal }: Request): Promise<Response> {
  const body = new ReadableStream({
    async start(out) {
      signal.addEventListener('abort', () => out.error(signal.reason));
      for (let sent = 0; sent < 5; sent++) {
        await new Promise((wake) => setTimeout(wake, 60_000));
        if (signal.aborted) return;
        out.enqueue(new Uint8Array([65]));
      }
      out.close();
    },
  });
  return Promise.resolve(new Response(body));
}

it('lets a body take its time once the answer has begun', async () => {
  vi.stubGlobal('fetch', slow);
  const got = renewing(new Request('http://satchel.example/page'))
    .then((response) => response.text())
    .catch((failure: unknown) => failure);
  await vi.advanceTimersByTimeAsync(310_000);
  await expect(got).resolves.toBe('AAAAA');
});

it('waits longer for what works through many files, and not for ever', async () => {
  let ended: unknown;
  patiently(new Request('http://satchel.example/copies', { method: 'POST', body: 'many' })).catch(
    (failure: unknown) => (ended = failure),
  );
  await vi.advanceTimersByTimeAsync(800_000);
  expect(ended).toBeUndefined();
  await vi.advanceTimersByTimeAsync(200_000);
  expect(ended).toMatchObject({ name: 'TimeoutError' });
});
