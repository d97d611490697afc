// What the server refused, in the reader's language: problem details by slug, and what else can go wrong on the way.
import { currentLocale, tryTo, t } from '$lib/i18n/index.svelte';

type Details = { type?: string; detail?: string; instance?: string; field?: string } & Record<
  string,
  unknown
>;

/** Something that did not work, with the sentence to show. */
export class Problem extends Error {
  constructor(
    readonly slug: string,
    readonly status: number,
    readonly sentence: string,
    /** The field of the form that is wrong, if it is one. */
    readonly field: string | undefined = undefined,
    /** What to name when asking whoever runs the server. */
    readonly request: string | undefined = undefined,
  ) {
    super(sentence);
  }
}

/** From an answer that is no success. Whatever is not problem details was written by something in between. */
export function problemFrom(status: number, contentType: string | null, body: unknown): Problem {
  if (!contentType?.startsWith('application/problem+json')) {
    return new Problem('proxy', status, t('problem.proxy', { status: String(status) }));
  }
  const details = body as Details;
  const slug = details.type?.split('#')[1] ?? 'internal';
  const request = details.instance?.split(':').at(-1);
  return new Problem(slug, status, sentenceFor(slug, details), details.field, request);
}

/** The sentence for a problem that is part of an answer: why something failed that the server did by itself. */
export function reasonFor(slug: string, detail: string): string {
  return sentenceFor(slug, { detail });
}

/** There was no answer at all. */
export function unreachable(): Problem {
  return new Problem('unreachable', 0, t(navigator.onLine ? 'problem.unreachable' : 'problem.offline'));
}

/** Whether the server, or a proxy for it, gave no answer: nobody here knows what was done. */
export function isUnanswered(failure: unknown): failure is Problem {
  return failure instanceof Problem && [0, 502, 504].includes(failure.status);
}

/** For a request that can be repeated without being done twice. */
export function unknownOutcome({ slug, status }: Problem): Problem {
  return new Problem(slug, status, t('problem.unknownOutcome'));
}

function sentenceFor(slug: string, details: Details): string {
  const facts: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(details)) {
    if (typeof value === 'string' || typeof value === 'number') facts[name] = value;
  }
  // The server speaks English, and more to the point than a sentence that has to fit every case.
  if (currentLocale() === 'en' && details.detail) return details.detail;
  return (
    tryTo(`problem.${slug}.${details.field}`, facts) ??
    tryTo(`problem.${slug}`, facts) ??
    details.detail ??
    t('problem.internal')
  );
}
