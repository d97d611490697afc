// The failure of an upload: its cause, for the retry policy, and the sentence to show.
import { Problem, problemFrom } from '$lib/api/problems';
import { t } from '$lib/i18n/index.svelte';
import type { Trouble } from './retryPolicy';

export class UploadFailure extends Error {
  constructor(
    readonly trouble: Trouble,
    readonly sentence: string,
  ) {
    super(sentence);
  }
}

export function unreadable(): UploadFailure {
  return new UploadFailure({ kind: 'unreadable' }, t('uploads.problem.unreadable'));
}

export function silence(sending: boolean): UploadFailure {
  return new UploadFailure(
    { kind: 'silence', sending },
    t(navigator.onLine ? 'uploads.problem.silent' : 'uploads.problem.offline'),
  );
}

/** An answer that is no success, or that no upload protocol would give. */
export function refused(method: string, answer: XMLHttpRequest): UploadFailure {
  const { status } = answer;
  const problem = problemFrom(status, answer.getResponseHeader('content-type'), parsed(answer.responseText));
  const wait = Number(answer.getResponseHeader('retry-after'));
  const retryAfter = wait > 0 ? { retryAfter: wait } : {};
  return new UploadFailure(
    { kind: 'answer', method, status, slug: problem.slug, ...retryAfter },
    plain(problem),
  );
}

/** What the server says of one file of a bundle. */
export function refusedFile(problem: { type: string; status: number; detail: string } | null): UploadFailure {
  const status = problem?.status ?? 500;
  const { slug, sentence } = problemFrom(status, 'application/problem+json', problem ?? {});
  return new UploadFailure({ kind: 'answer', method: 'POST', status, slug }, sentence);
}

/** Whatever was thrown, as a failure; `undefined` for what is a mistake of the app itself. */
export function failureFrom(thrown: unknown): UploadFailure | undefined {
  if (thrown instanceof UploadFailure) return thrown;
  if (!(thrown instanceof Problem)) return undefined;
  const { slug, status, sentence } = thrown;
  if (slug === 'unreachable') return silence(false);
  return new UploadFailure({ kind: 'answer', method: 'GET', status, slug }, sentence);
}

/** What a proxy does to uploads can be said better than what it does in general. */
function plain({ slug, status, sentence }: Problem): string {
  if (slug !== 'proxy') return sentence;
  if (status === 413) return t('uploads.problem.proxySize');
  if (status === 405 || status === 501) return t('uploads.problem.proxyMethod');
  return sentence;
}

/** HEAD has no body, and a proxy may promise JSON that it does not send. */
function parsed(text: string): unknown {
  try {
    return text ? (JSON.parse(text) as unknown) : {};
  } catch {
    return {};
  }
}
