// One folder, or one search, of the shelf: its entries, and the changes made to them.
import { makeFolder, readEntry, readFolder, type Entry, type Place, type Sort } from '$lib/files/entries';
import { each } from '$lib/files/entryBatch';
import { Listing } from '$lib/files/entryList.svelte';
import { orderOf } from '$lib/files/order';
import { t } from '$lib/i18n/index.svelte';
import { act } from '$lib/shell/action';
import { toasts } from '$lib/ui/toasts.svelte';
import { change, keepUntil, remove, restore, search } from './calls';

const LOOK_AGAIN_MS = 1000;
const MOST_READ_ALONE = 8;

export class FolderView {
  readonly listing: Listing<Entry & { path?: string[] }>;
  readonly folder: string;
  readonly searching: boolean;
  /** Which folder that is, once it is known. */
  place = $state.raw<Place>();
  #onchange: () => void;
  #arrivals: string[] = [];
  #looking: ReturnType<typeof setTimeout> | undefined;

  /** `onchange` is called when the usage of the shelf has changed. */
  constructor(folder: string, sort: Sort, wanted: string, onchange: () => void) {
    this.#onchange = onchange;
    this.folder = folder;
    this.searching = wanted !== '';
    this.listing = wanted
      ? new Listing((cursor) => search(wanted, cursor))
      : new Listing(async (cursor) => {
          const contents = await readFolder(folder, sort, cursor);
          this.place = contents.folder;
          return contents;
        }, orderOf(sort));
  }

  /** Something was uploaded, into this folder or, with folders of its own, below it. */
  arrived(fileId: string): void {
    if (!this.#arrivals.length) queueMicrotask(() => void this.#showArrivals(this.#arrivals.splice(0)));
    this.#arrivals.push(fileId);
  }

  /** A few are read one by one; a bundle of them is read with the folder. */
  async #showArrivals(fileIds: readonly string[]): Promise<void> {
    this.#onchange();
    if (fileIds.length > MOST_READ_ALONE) return this.#lookAgainSoon();
    await act(async () => {
      for (const fileId of fileIds) {
        const file = await readEntry(fileId);
        if (file.folder_id === this.folder && !this.searching) this.listing.put(file);
        else this.#lookAgainSoon();
      }
    });
  }

  /** On another device, by somebody who was asked for files, or by this page itself; without folders, perhaps anything. */
  changedElsewhere(folderIds?: readonly string[]): void {
    if (folderIds && !this.searching && !folderIds.includes(this.folder)) return;
    this.#lookAgainSoon();
  }

  async makeFolder(name: string): Promise<void> {
    this.listing.put(await makeFolder(name, this.folder));
  }

  async rename(entry: Entry, name: string): Promise<void> {
    this.listing.put(await change(entry, { name }));
  }

  async move(entries: readonly Entry[], to: { id: string; name: string }): Promise<void> {
    const moved = await each(entries, async (before) => {
      const now = await change(before, { folder_id: to.id });
      return { now, from: before.folder_id };
    });
    if (!moved.length) return;
    this.#settle(moved.map(({ now }) => now));
    toasts.good(t('shelf.moved', { count: moved.length, folder: to.name }), {
      label: t('shelf.undo'),
      run: async () => this.#settle(await each(moved, ({ now, from }) => change(now, { folder_id: from }))),
    });
  }

  async keepUntil(files: readonly Entry[], moment: string | null): Promise<void> {
    for (const file of await each(files, (entry) => keepUntil(entry, moment))) this.listing.put(file);
  }

  /** Moves entries into the bin; a toast offers to undo it. */
  async remove(entries: readonly Entry[]): Promise<void> {
    const gone = await each(entries, async (entry) => {
      await remove(entry);
      return entry;
    });
    if (!gone.length) return;
    this.listing.drop(gone);
    this.#onchange();
    const [first] = gone;
    const text =
      gone.length === 1 && first
        ? t('shelf.binnedName', { name: first.name })
        : t('shelf.binned', { count: gone.length });
    toasts.good(text, {
      label: t('shelf.undo'),
      run: async () => {
        this.#settle(await each(gone, restore));
        this.#onchange();
      },
    });
  }

  /** Updates the list: entries that are in this folder now are shown, others removed. */
  #settle(entries: readonly Entry[]): void {
    if (this.searching) {
      void this.listing.refresh();
      return;
    }
    for (const entry of entries) {
      if (entry.folder_id === this.folder) this.listing.put(entry);
      else this.listing.drop([entry]);
    }
  }

  /** Debounced: hundreds of files that arrive in folders of their own cause a few reads, not hundreds. */
  #lookAgainSoon(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined;
      this.#onchange();
      void this.listing.refresh();
    }, LOOK_AGAIN_MS);
  }
}
