// The HTTP client: typed by the OpenAPI document; it renews a session that has expired, and waits only so long.
import createClient from 'openapi-fetch';
import { Problem, problemFrom, unreachable } from './problems';
import type { paths } from './schema';
import { fetchEnding, silence } from './silence.svelte';

// With turns of some seconds, about a minute.
const MOST_PROOFS = 12;
const PATIENCE_MS = 900_000;

export const http = createClient<paths>({ fetch: (request) => working(request) });

/** For acts that read many files one after another before they answer. */
export function patiently(request: Request): Promise<Response> {
  return working(request, PATIENCE_MS);
}

type Answer<Data> = { data?: Data; error?: unknown; response: Response };

/** The data of an answer, or a `Problem` thrown. */
export async function ask<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  let answer: Answer<Data>;
  try {
    answer = await silence.until(call);
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === 'AbortError') throw failure;
    throw unreachable();
  }
  const { response } = answer;
  if (response.ok) return answer.data as Data;
  throw problemFrom(response.status, response.headers.get('content-type'), answer.error);
}

/** `renewing`, but where others have guessed too often, with a proof of work. */
async function working(request: Request, headMs?: number): Promise<Response> {
  let asking = request;
  for (let round = 0; ; round++) {
    const again = asking.clone();
    const response = await renewing(asking, headMs);
    if (response.status !== 429 || round === MOST_PROOFS) return response;
    const { type, challenge, bits } = (await response.clone().json()) as WorkNeeded;
    if (!type?.endsWith('#work-needed')) return response;
    const { solve } = await import('./work');
    const seconds = Number(response.headers.get('retry-after') ?? 1);
    const [work] = await Promise.all([
      solve(challenge, bits),
      new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
    ]);
    again.headers.set('satchel-work', work);
    asking = again;
  }
}

type WorkNeeded = { type?: string; challenge: string; bits: number };

/** `fetch`, but an expired access token is renewed and the request is sent again. */
export async function renewing(request: Request, headMs?: number): Promise<Response> {
  const again = request.clone();
  const response = await fetchEnding(request, headMs);
  if (response.status !== 401) return response;
  const slug = await slugOf(response.clone());
  if (slug === 'token-expired' && (await renew())) return fetchEnding(again, headMs);
  if (slug === 'token-expired' || slug === 'unauthenticated') sessionEnded();
  return response;
}

async function slugOf(response: Response): Promise<string | undefined> {
  if (!response.headers.get('content-type')?.startsWith('application/problem+json')) return undefined;
  return ((await response.json()) as { type?: string }).type?.split('#')[1];
}

let sessionEnded: () => void = () => undefined;

/** Call back when the server no longer knows who we are. */
export function onSessionEnded(callback: () => void): void {
  sessionEnded = callback;
}

let renewal: Promise<boolean> | undefined;

/** Renew the session, once for everybody who asks meanwhile, in this tab and in others. */
export function renew(): Promise<boolean> {
  renewal ??= oneTabAtATime(async () => {
    const response = await fetch('/api/v1/sessions/refresh', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    return response.ok;
  }).finally(() => (renewal = undefined));
  return renewal;
}

/** Over plain http from another machine there are no locks; the server then tells two renewals from theft by time. */
async function oneTabAtATime<Result>(work: () => Promise<Result>): Promise<Result> {
  return 'locks' in navigator ? await navigator.locks.request('satchel-renew', work) : await work();
}

export { Problem };
