// Only for those who run this server; to others there is no such page.
import { error } from '@sveltejs/kit';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ parent }) => {
  const { me } = await parent();
  if (!me.administrator) error(404);
};
