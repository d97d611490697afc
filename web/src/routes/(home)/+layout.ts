// Home is for people with an account and for strangers; guests have a page of their own.
import { error, redirect } from '@sveltejs/kit';
import { http } from '$lib/api/client';
import { haveWords } from '$lib/i18n/index.svelte';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ parent }) => {
  const [{ visitor, problem }] = await Promise.all([parent(), haveWords('all')]);
  if (problem) error(503, problem.sentence);
  if (visitor.kind === 'member') return { who: visitor.user_id, guest: false };
  if (visitor.kind === 'guest') redirect(307, '/guest');
  // Whoever comes first sets the server up.
  const { data: rules } = await http.GET('/api/v1/sign-up');
  if (rules?.empty) redirect(307, '/sign-up');
  return { who: '', guest: true };
};
