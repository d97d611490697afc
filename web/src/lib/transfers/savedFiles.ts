// Shows where on the shelf received files were saved.
import { goto } from '$app/navigation';
import type { Transfer } from '$lib/api/transfers';
import { folderAddress } from '$lib/files/addresses';
import { readEntry } from '$lib/files/entries';
import { t } from '$lib/i18n/index.svelte';
import { act } from '$lib/shell/action';
import { toasts } from '$lib/ui/toasts.svelte';

/** `saved` are the ids on the shelf, by place. */
export function tellSaved(transfer: Transfer, saved: readonly string[]): void {
  toasts.good(t('transfers.saved'), {
    label: t('transfers.show'),
    run: () => act(() => showOnShelf(transfer, saved)),
  });
}

/** The folder of whatever lies highest: the rest is beside it or below. */
export async function showOnShelf({ files }: Transfer, saved: readonly string[]): Promise<void> {
  const [highest] = files.toSorted((one, other) => depth(one.folder) - depth(other.folder));
  const id = highest && saved[highest.place];
  if (id !== undefined) await goto(folderAddress((await readEntry(id)).folder_id));
}

function depth(folder: string): number {
  return folder ? folder.split('/').length : 0;
}
