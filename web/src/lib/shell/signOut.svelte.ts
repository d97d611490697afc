// Signs out and leads to the sign-in page; whoever would lose something is asked first.
import { goto } from '$app/navigation';
import { Problem } from '$lib/api/problems';
import { toasts } from '$lib/ui/toasts.svelte';
import { outbox } from './outbox.svelte';
import { session } from './session.svelte';

class SignOut {
  /** Whether somebody has to say that it may be lost. */
  asks = $state(false);

  ask = async (): Promise<void> => {
    if (session.personId !== undefined) await outbox.left(session.personId);
    if (outbox.count) this.asks = true;
    else await this.go();
  };

  go = async (): Promise<void> => {
    this.asks = false;
    try {
      await session.signOut();
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      toasts.bad(failure.sentence);
      return;
    }
    await goto('/sign-in', { invalidateAll: true });
  };
}

export const leaving = new SignOut();
