// The state of a form: one submission at a time, and the server's problem at its field or above the button.
import { tick } from 'svelte';
import { Problem } from '$lib/api/problems';

export class Form {
  busy = $state(false);
  problem = $state<Problem>();
  #fields: readonly string[];

  /** `fields` are those that can show what is wrong with them. */
  constructor(...fields: string[]) {
    this.#fields = fields;
  }

  /** The sentence for one field. */
  wrong(field: string): string | undefined {
    return this.problem?.field === field ? this.problem.sentence : undefined;
  }

  /** A problem that belongs to no field of this form. */
  get general(): Problem | undefined {
    const { problem } = this;
    return problem?.field && this.#fields.includes(problem.field) ? undefined : problem;
  }

  /** A handler for `onsubmit` that runs `work` once at a time. */
  handle(work: () => Promise<void>): (event?: Event) => Promise<void> {
    return async (event) => {
      event?.preventDefault();
      if (this.busy) return;
      this.busy = true;
      this.problem = undefined;
      try {
        await work();
      } catch (failure) {
        if (!(failure instanceof Problem)) throw failure;
        this.problem = failure;
        await tick();
        // What is wrong is read aloud when its field gets the focus.
        if (event?.target instanceof HTMLElement)
          event.target.querySelector<HTMLElement>('[aria-invalid]')?.focus();
      } finally {
        this.busy = false;
      }
    };
  }
}
