// The rules of signing up, before the page is shown: it would jump when they arrive.
import { ask, http, Problem } from '$lib/api/client';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ parent }) => {
  await parent();
  try {
    return { rules: await ask(http.GET('/api/v1/sign-up')) };
  } catch (failure) {
    if (!(failure instanceof Problem)) throw failure;
    return { unknown: failure };
  }
};
