// The drop is for everybody: whoever has an account keeps the app around it, and strangers stay strangers.
import { error } from '@sveltejs/kit';
import { haveWords } from '$lib/i18n/index.svelte';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ parent }) => {
  const [{ visitor, problem }] = await Promise.all([parent(), haveWords('all')]);
  if (problem) error(503, problem.sentence);
  if (visitor.kind === 'member') return { who: visitor.user_id, guest: false };
  return { who: visitor.kind === 'guest' ? visitor.id : '', guest: true };
};
