// What is no scope, and the whole site for those who do not run it: to them there is no such page.
import { error } from '@sveltejs/kit';
import { isScope } from '$lib/activity/title';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params, parent }) => {
  const { me } = await parent();
  if (!isScope(params.scope) || (params.scope === 'site' && !me.administrator)) error(404);
};
