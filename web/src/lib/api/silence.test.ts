import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ask, renewing } from './client';
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
