// The retry policy of uploads: retry, use another method, ask to sign in, or give up.

/** Why it broke off. Answers are those that are no success; `proxy` as slug means that they are not Satchel's. */
export type Trouble =
  | { kind: 'unreadable' }
  | { kind: 'silence'; sending: boolean }
  | { kind: 'answer'; method: string; status: number; slug: string; retryAfter?: number };

/** How this attempt went about it. */
export type Circumstances = {
  begun: boolean;
  smallestChunks: boolean;
  overriding: boolean;
  /** How many attempts in a row have not brought the upload further. */
  fruitless: number;
};

export type Verdict = 'retry' | 'smaller' | 'override' | 'anew' | 'signIn' | 'elsewhere' | 'fail';

export const CHUNK_BYTES = [32 * 1024 ** 2, 4 * 1024 ** 2, 512 * 1024] as const;
const DELAYS_SECONDS = [1, 2, 4, 8, 15, 30, 60];
const PASSING = new Set([408, 423, 425, 429]);
// Not understood, or a network that wants a signature on its own page first.
const LASTING = new Set([501, 505, 511]);
// No space is left, on the server or of somebody's share: waiting does not make any.
const FULL = 507;

export function judge(trouble: Trouble, now: Circumstances): Verdict {
  switch (trouble.kind) {
    case 'unreadable':
      return 'fail';
    case 'silence':
      // Some proxies cut the line instead of saying that a body is too large.
      return trouble.sending && now.fruitless >= 2 && !now.smallestChunks ? 'smaller' : 'retry';
    case 'answer':
      return trouble.slug === 'proxy' ? aboutProxy(trouble, now) : aboutSatchel(trouble, now);
  }
}

/** Whether the same request can succeed later. */
export function mayPass(trouble: Trouble): boolean {
  if (trouble.kind !== 'answer') return trouble.kind === 'silence';
  const { status } = trouble;
  return status === 401 || (status >= 500 && status !== FULL) || PASSING.has(status);
}

/** Backoff in seconds; a longer `Retry-After` of the server wins. */
export function delay(trouble: Trouble, fruitless: number): number {
  const wanted = trouble.kind === 'answer' ? (trouble.retryAfter ?? 0) : 0;
  const last = DELAYS_SECONDS.length - 1;
  return Math.max(wanted, DELAYS_SECONDS[Math.min(fruitless, last)] ?? 60);
}

type Answer = Extract<Trouble, { kind: 'answer' }>;

function aboutSatchel({ status, slug }: Answer, now: Circumstances): Verdict {
  if (status === 401) return 'signIn';
  if (now.begun && (status === 404 || status === 410)) return 'anew';
  if (slug === 'upload-taken-over') return 'elsewhere';
  if (status === FULL) return 'fail';
  return status === 409 || status >= 500 || PASSING.has(status) ? 'retry' : 'fail';
}

function aboutProxy({ status, method }: Answer, now: Circumstances): Verdict {
  if (status === 413) return now.smallestChunks ? 'fail' : 'smaller';
  if (method === 'PATCH' && (status === 405 || status === 501)) return now.overriding ? 'fail' : 'override';
  return PASSING.has(status) || (status >= 500 && !LASTING.has(status)) ? 'retry' : 'fail';
}
