// The folders of the shelf for what is passed on from this device: one for each time, named after it.
import { ROOT } from '$lib/files/addresses';
import { foldersIn, makeFolder, type Entry } from '$lib/files/entries';
import { t } from '$lib/i18n/index.svelte';

export async function makeSentFolder(): Promise<Entry> {
  const name = t('transfers.sentFolder');
  const known = (await foldersIn(ROOT)).find((folder) => folder.name === name);
  return makeFolder(nameNow(), (known ?? (await makeFolder(name, ROOT))).id);
}

function nameNow(): string {
  const now = new Date();
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, 19).replace('T', ' ').replaceAll(':', '.');
}
