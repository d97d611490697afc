// Everything is drawn in the browser: the server knows no page but the shell.
import { Problem } from '$lib/api/problems';
import { startLocale } from '$lib/i18n/index.svelte';
import { session } from '$lib/shell/session.svelte';
import type { LayoutLoad } from './$types';

export const ssr = false;
export const prerender = false;

export const load: LayoutLoad = async ({ depends }) => {
  depends('satchel:session');
  // Words first: without them even what goes wrong could not be said.
  await startLocaleOnce();
  try {
    return { visitor: await session.load() };
  } catch (failure) {
    // The pages say it: SvelteKit has no words of ours for what fails up here.
    if (failure instanceof Problem) return { visitor: session.visitor, problem: failure };
    throw failure;
  }
};

let started: Promise<void> | undefined;

function startLocaleOnce(): Promise<void> {
  started ??= startLocale();
  return started;
}
