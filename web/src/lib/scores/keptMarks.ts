// Sends the marks that were left on this device when a page was closed, of scores that nobody has open.
import { outbox } from '$lib/shell/outbox.svelte';
import { ScoreMarks } from './scoreMarks.svelte';

/** Once for all that is left; what cannot be sent now stays for the next time, and for whoever opens its score. */
export async function sendKeptMarks(personId: string): Promise<void> {
  for (const scoreId of await outbox.left(personId)) await new ScoreMarks(scoreId, personId).settled();
}
