// Takes files for a folder of the shelf: what is there already is skipped, replaced or kept beside, as people choose.
import { Problem } from '$lib/api/problems';
import type { Picked } from '$lib/files/pickedFiles';
import { t } from '$lib/i18n/index.svelte';
import { toasts } from '$lib/ui/toasts.svelte';
import { queue } from '$lib/uploads/queue.svelte';
import { chosen, planOf, type Choice, type UploadPlan } from './uploadPlan';

export class ShelfIntake {
  /** Whether somebody is asked, and about what. */
  open = $state(false);
  plan = $state.raw<UploadPlan>();
  #choice: Choice | undefined;
  #onclose: () => void = () => undefined;
  #last: Promise<void> = Promise.resolve();

  /** One gesture after the other, so that one question is asked at a time; one that fails stops none behind it. */
  take(picked: Picked[], folder: string): void {
    this.#last = this.#last
      .then(() => this.#take(picked, folder))
      .catch((failure: unknown) => {
        toasts.bad(t('problem.internal'));
        // eslint-disable-next-line no-console -- a fault of ours, for whoever looks after it
        console.error(failure);
      });
  }

  answer(choice: Choice): void {
    this.#choice = choice;
    this.open = false;
  }

  closed(): void {
    this.#onclose();
  }

  async #take(picked: Picked[], folder: string): Promise<void> {
    const plan = await planned(picked, folder);
    const choice = plan.changed.length ? await this.#ask(plan) : 'skip';
    // Whoever closes the question wants nothing of it.
    if (!choice) return;
    queue.add(chosen(plan, choice), { destination: 'shelf', folder });
    if (plan.same.length) toasts.good(t('shelf.replace.same', { count: plan.same.length }));
    if (choice === 'skip' && plan.changed.length)
      toasts.good(t('shelf.replace.skipped', { count: plan.changed.length }));
  }

  #ask(plan: UploadPlan): Promise<Choice | undefined> {
    this.#choice = undefined;
    this.plan = plan;
    this.open = true;
    return new Promise((resolve) => {
      this.#onclose = () => resolve(this.#choice);
    });
  }
}

/** Where the shelf cannot be read, everything is sent as new: the server keeps both of what has one name. */
async function planned(picked: Picked[], folder: string): Promise<UploadPlan> {
  try {
    return await planOf(picked, folder);
  } catch (failure) {
    if (!(failure instanceof Problem)) throw failure;
    return { fresh: picked, same: [], changed: [] };
  }
}
