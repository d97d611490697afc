// Everything is drawn in the browser: the server knows no page but the shell.
import { Problem } from '$lib/api/problems';
import { haveWords } from '$lib/i18n/index.svelte';
import { session } from '$lib/shell/session.svelte';
import type { LayoutLoad } from './$types';

export const ssr = false;
export const prerender = false;

const FIRST_PAGES = new Set(['/sign-in', '/sign-up', '/guest', '/reset']);

export const load: LayoutLoad = async ({ depends, untrack, url }) => {
  depends('satchel:session');
  // Side by side. Without words even what goes wrong could not be said, so a failure is asked for once more.
  await Promise.all([
    haveWords(untrack(() => wordsFor(url.pathname))),
    session.load().catch(() => undefined),
  ]);
  try {
    return { visitor: await session.load() };
  } catch (failure) {
    // The pages say it: SvelteKit has no words of ours for what fails up here.
    if (failure instanceof Problem) return { visitor: session.visitor, problem: failure };
    throw failure;
  }
};

/** The layout that knows better asks for more, but only once it is there itself. */
function wordsFor(path: string): 'first' | 'link' | 'door' | 'all' {
  if (path.startsWith('/l/')) return 'link';
  if (path.startsWith('/join/')) return 'door';
  return FIRST_PAGES.has(path) ? 'first' : 'all';
}
