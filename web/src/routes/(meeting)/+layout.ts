// Rooms are for whoever has an account and for guests alike; a stranger says first who they are.
import { error, redirect } from '@sveltejs/kit';
import { haveWords } from '$lib/i18n/index.svelte';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ parent, url }) => {
  const [{ visitor, problem }] = await Promise.all([parent(), haveWords('all')]);
  if (problem) error(503, problem.sentence);
  if (visitor.kind === 'stranger') redirect(307, `/sign-in?next=${encodeURIComponent(url.pathname)}`);
  return visitor.kind === 'guest' ? { who: visitor.id, guest: true } : { who: visitor.user_id, guest: false };
};
