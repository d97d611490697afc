// Work on several chosen entries: one call for each, or one download of all.
import { Problem } from '$lib/api/client';
import { renewSession } from '$lib/api/sessionRenewal';
import { t } from '$lib/i18n/index.svelte';
import { act } from '$lib/shell/action';
import { saveEach } from '$lib/shell/browserDownload';
import { toasts } from '$lib/ui/toasts.svelte';
import { downloadPaths, type Entry } from './entries';
import { isOneByOne, savedOf, saveOneByOne } from './savedOneByOne';

// Enough to be quick, few enough to leave the line to others.
const AT_ONCE = 4;

/** Runs `work` for each, a few at once. Answers the results that succeeded, and shows the first problem. */
export async function each<Item, Result>(
  entries: readonly Item[],
  work: (entry: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let problem: Problem | undefined;
  const left = [...entries];
  async function workOff(): Promise<void> {
    for (let entry = left.shift(); entry; entry = left.shift()) {
      try {
        results.push(await work(entry));
      } catch (failure) {
        if (!(failure instanceof Problem)) throw failure;
        problem ??= failure;
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, workOff));
  if (problem) toasts.bad(problem.sentence);
  return results;
}

/** A download cannot renew the session by itself, so the server is asked for something small first. */
export async function download(entries: readonly Entry[]): Promise<void> {
  const files = entries.filter(({ kind }) => kind === 'file');
  if (files.length === entries.length && isOneByOne(files.length)) {
    await act(async () => {
      await renewSession();
      await saveOneByOne(files.map(savedOf));
    });
    return;
  }
  const addresses = downloadPaths(entries);
  if (addresses.length > 1) toasts.good(t('files.inArchives', { count: addresses.length }));
  await act(async () => {
    await renewSession();
    await saveEach(addresses);
  });
}
