// The pages of people with an account; whoever is not signed in does that first and then comes back.
import { error, redirect } from '@sveltejs/kit';
import { http } from '$lib/api/client';
import { haveWords } from '$lib/i18n/index.svelte';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ parent, url }) => {
  const [{ visitor, problem }] = await Promise.all([parent(), haveWords('all')]);
  if (problem) error(503, problem.sentence);
  if (visitor.kind === 'member') return { me: visitor };
  const { data: rules } = await http.GET('/api/v1/sign-up');
  const next = encodeURIComponent(url.pathname + url.search);
  redirect(307, rules?.empty ? '/sign-up' : `/sign-in?next=${next}`);
};
