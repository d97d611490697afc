// Whoever comes by a link may be anybody, and nobody is asked who they are.
import { error } from '@sveltejs/kit';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ parent }) => {
  const { problem } = await parent();
  if (problem) error(503, problem.sentence);
};
