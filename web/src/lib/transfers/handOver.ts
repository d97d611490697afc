// Hands entries over by e-mail address, and shows a toast that leads to the receipt.
import { goto } from '$app/navigation';
import { handOver, type Transfer } from '$lib/api/transfers';
import { t } from '$lib/i18n/index.svelte';
import { toasts } from '$lib/ui/toasts.svelte';

/** Files and folders of one's own shelf. */
export async function handOverByEmail(email: string, note: string, ids: readonly string[]): Promise<void> {
  tellHandedOver(await handOver({ kind: 'email', email }, ids, { note }));
}

export function tellHandedOver({ transfer_id, receiver }: Transfer): void {
  toasts.good(t('transfers.handedOver', { name: receiver.name }), {
    label: t('transfers.show'),
    run: () => goto(`/transfers/${transfer_id}`),
  });
}
