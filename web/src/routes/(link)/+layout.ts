// Whoever comes by a link may be anybody, and nobody is asked who they are.
import { error } from '@sveltejs/kit';
import { haveWords } from '$lib/i18n/index.svelte';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ parent }) => {
  const [{ problem }] = await Promise.all([parent(), haveWords('link')]);
  if (problem) error(503, problem.sentence);
};
