// Signs out and leads to the sign-in page.
import { goto } from '$app/navigation';
import { Problem } from '$lib/api/problems';
import { toasts } from '$lib/ui/toasts.svelte';
import { session } from './session.svelte';

export async function signOut(): Promise<void> {
  try {
    await session.signOut();
  } catch (failure) {
    if (!(failure instanceof Problem)) throw failure;
    toasts.bad(failure.sentence);
    return;
  }
  await goto('/sign-in', { invalidateAll: true });
}
