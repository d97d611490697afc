// Says that albums were changed, and offers to undo it.
import { t } from '$lib/i18n/index.svelte';
import { act } from '$lib/shell/action';
import { toasts } from '$lib/ui/toasts.svelte';
import { undoAct, type Acted } from './albumCalls';

/** `afterwards` runs once the change is undone. */
export function offerUndo(sentence: string, { act: done }: Acted, afterwards: () => unknown): void {
  if (!done) return;
  toasts.good(done.moved ? `${sentence} ${t('albums.moved', { count: done.moved })}` : sentence, {
    label: t('shelf.undo'),
    run: () =>
      act(async () => {
        await undoAct(done.act_id, true);
        await afterwards();
        toasts.good(t('albums.undone'));
      }),
  });
}
