// The HTTP client: typed by the OpenAPI document; it renews a session that has expired, and waits only so long.
import createClient from 'openapi-fetch';
import { Problem, problemFrom, unreachable } from './problems';
import type { paths } from './schema';
import { ending, silence } from './silence.svelte';

export const http = createClient<paths>({ fetch: renewing });

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

/** `fetch`, but an expired access token is renewed and the request is sent again. */
export async function renewing(asked: Request): Promise<Response> {
  const request = ending(asked);
  const again = request.clone();
  const response = await fetch(request);
  if (response.status !== 401) return response;
  const slug = await slugOf(response.clone());
  if (slug === 'token-expired' && (await renew())) return fetch(again);
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
