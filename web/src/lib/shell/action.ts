// Runs an action of a page and shows its problem as a toast; the page stays.
import { Problem } from '$lib/api/problems';
import { toasts } from '$lib/ui/toasts.svelte';

/** Answers whether it worked. */
export async function act(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (failure) {
    if (!(failure instanceof Problem)) throw failure;
    toasts.bad(failure.sentence);
    return false;
  }
}
