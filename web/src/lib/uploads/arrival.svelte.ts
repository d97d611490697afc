// Waits until all uploads of one gesture have arrived.
import { queue } from './queue.svelte';
import type { Upload } from './upload.svelte';

/** The ids of what they became; those that somebody cancelled are left out, and one that failed may still be repeated. */
export function whenArrived(uploads: readonly Upload[]): Promise<string[]> {
  return new Promise((resolve) => {
    // Outside of any page, since people go on to other pages meanwhile.
    const stop = $effect.root(() => {
      $effect(() => {
        const { uploads: inLine } = queue;
        if (uploads.some((upload) => upload.state !== 'done' && inLine.includes(upload))) return;
        resolve(uploads.flatMap(({ state, became }) => (state === 'done' && became ? [became] : [])));
        queueMicrotask(() => stop());
      });
    });
  });
}
