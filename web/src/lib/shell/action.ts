// What happens when something is done to what a page shows: if it does not work, that is said, and the page stays.
import { Problem } from '$lib/api/problems';
import { toasts } from '$lib/ui/toasts.svelte';

/** Whether it worked. */
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
