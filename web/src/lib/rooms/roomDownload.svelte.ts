// Downloads files from a room, verified if they were handed over, or saves them to one's own shelf.
import { SvelteMap } from 'svelte/reactivity';
import { renewSession } from '$lib/api/sessionRenewal';
import { readTransfer, saveToShelf } from '$lib/api/transfers';
import { isOneByOne, savedOf, saveOneByOne } from '$lib/files/savedOneByOne';
import { canBeHeld, receive, receiveUnchecked } from '$lib/files/verifiedDownload';
import { t } from '$lib/i18n/index.svelte';
import { act } from '$lib/shell/action';
import { saveEach } from '$lib/shell/browserDownload';
import { toasts } from '$lib/ui/toasts.svelte';
import { fileEntry } from './roomEntries';
import { archivePaths, filePath, type RoomFile } from './rooms';

export class RoomDownload {
  /** How much of a file has come, by its id. */
  readonly shares = new SvelteMap<string, number>();
  busy = $state(false);
  #roomId: string;
  #you: () => string;

  constructor(roomId: string, you: () => string) {
    this.#roomId = roomId;
    this.#you = you;
  }

  /** One file as it is, on a phone several, too; else as an archive, or as archives; `isAll` of what the room holds. */
  async download(files: readonly RoomFile[], isAll: boolean): Promise<void> {
    const [first] = files;
    if (!first) return;
    if (files.length === 1) return this.#fetch(first);
    if (isOneByOne(files.length)) return this.#fetchEach(files);
    const addresses = archivePaths(this.#roomId, isAll ? [] : files.map(({ file_id }) => file_id));
    if (addresses.length > 1) toasts.good(t('files.inArchives', { count: addresses.length }));
    await act(() => follow(...addresses));
  }

  /** Onto the shelf goes what was handed over together. */
  async save(files: readonly RoomFile[]): Promise<void> {
    const handed = files.filter((file) => this.canBeSaved(file)).map(({ transfer_id }) => transfer_id);
    const transfers = handed.filter((id, index) => handed.indexOf(id) === index);
    this.busy = true;
    let count = 0;
    for (const id of transfers) {
      await act(async () => {
        count += (await saveToShelf(id ?? '')).files.length;
      });
    }
    this.busy = false;
    if (count) toasts.good(t('rooms.saved', { count }));
  }

  canBeSaved({ transfer_id, by }: RoomFile): boolean {
    return transfer_id !== null && by !== this.#you();
  }

  /** Those that were handed over are verified one by one; the others are saved as they are. */
  async #fetchEach(files: readonly RoomFile[]): Promise<void> {
    const handed = files.filter((file) => this.canBeSaved(file));
    const others = files.filter((file) => !this.canBeSaved(file));
    this.busy = true;
    for (const file of handed) await this.#fetch(file);
    if (others.length)
      await act(async () => {
        await renewSession();
        await saveOneByOne(others.map((file) => savedOf(fileEntry(this.#roomId, file))));
      });
    this.busy = false;
  }

  async #fetch(file: RoomFile): Promise<void> {
    const { transfer_id, place, by, file_id } = file;
    if (transfer_id === null || place === null || by === this.#you()) {
      await act(() => follow(`${filePath(this.#roomId, file_id)}/content`));
      return;
    }
    if (this.shares.has(file_id)) return;
    this.shares.set(file_id, 0);
    // Its receipt moves on as the bytes arrive, and once they are known to be the right ones.
    await act(async () => {
      const transfer = await readTransfer(transfer_id);
      const handed = transfer.files.find((each) => each.place === place);
      if (!handed) return follow(`${filePath(this.#roomId, file_id)}/content`);
      if (!canBeHeld([handed])) return receiveUnchecked(transfer, handed);
      const told = (share: number): void => void this.shares.set(file_id, share);
      await receive(transfer, [handed], told, new AbortController().signal);
    });
    this.shares.delete(file_id);
  }
}

async function follow(...paths: string[]): Promise<void> {
  await renewSession();
  await saveEach(paths);
}
