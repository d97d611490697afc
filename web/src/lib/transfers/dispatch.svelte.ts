// Hands over files from this device: they are uploaded to the shelf first, into a folder of their own, and are
// handed over once all have arrived, whichever page is open by then.
import { Problem } from '$lib/api/client';
import { checkReceiver, handOver, type Transfer } from '$lib/api/transfers';
import { readFolder, type Cursor } from '$lib/files/entries';
import type { Picked } from '$lib/files/pickedFiles';
import { whenArrived } from '$lib/uploads/arrival.svelte';
import { queue } from '$lib/uploads/queue.svelte';
import { makeSentFolder } from '$lib/uploads/sentFolder';
import type { Upload } from '$lib/uploads/upload.svelte';

export class Dispatch {
  email = $state('');
  readonly note: string;
  readonly names: string[];
  /** Why it could not be handed over, although it is on the shelf. */
  problem = $state.raw<Problem>();
  /** Whether it is being handed over just now. */
  busy = $state(false);
  readonly #folder: string;
  readonly #uploads: Upload[];

  constructor(email: string, note: string, folder: string, uploads: Upload[]) {
    this.email = email;
    this.note = note;
    this.names = uploads.map(({ name }) => name);
    this.#folder = folder;
    this.#uploads = uploads;
  }

  /** How much of it is on the shelf. */
  readonly share = $derived.by(() => {
    const whole = this.#uploads.reduce((sum, { size }) => sum + size + 1, 0);
    const sent = this.#uploads.reduce((sum, { sent, state }) => sum + sent + Number(state === 'done'), 0);
    return whole ? sent / whole : 0;
  });

  /** Hands over everything in its folder. */
  async handOver(): Promise<Transfer | undefined> {
    this.busy = true;
    this.problem = undefined;
    try {
      const ids = await everythingIn(this.#folder);
      return await handOver({ kind: 'email', email: this.email }, ids, { note: this.note });
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.problem = failure;
      return undefined;
    } finally {
      this.busy = false;
    }
  }
}

class Dispatches {
  open = $state.raw<Dispatch[]>([]);

  /** `onsent` hears of it when it is handed over. */
  async begin(
    picked: readonly Picked[],
    email: string,
    note: string,
    onsent: (transfer: Transfer) => void,
  ): Promise<void> {
    // Before the first byte: a wrong address would show only when everything is uploaded.
    await checkReceiver(email);
    const folder = await makeSentFolder();
    const uploads = queue.add(picked, { destination: 'shelf', folder: folder.id });
    const dispatch = new Dispatch(email, note, folder.id, uploads);
    this.open = [dispatch, ...this.open];
    void this.#sendWhenThere(dispatch, uploads, onsent);
  }

  async #sendWhenThere(
    dispatch: Dispatch,
    uploads: Upload[],
    onsent: (transfer: Transfer) => void,
  ): Promise<void> {
    const arrived = await whenArrived(uploads);
    // All of them were cancelled.
    if (!arrived.length) this.forget(dispatch);
    else await this.sendAgain(dispatch, onsent);
  }

  /** After a problem, perhaps to another address. */
  async sendAgain(dispatch: Dispatch, onsent: (transfer: Transfer) => void): Promise<void> {
    const transfer = await dispatch.handOver();
    if (!transfer) return;
    this.forget(dispatch);
    onsent(transfer);
  }

  /** Uploaded files stay on the shelf. */
  forget(dispatch: Dispatch): void {
    this.open = this.open.filter((each) => each !== dispatch);
  }
}

async function everythingIn(folder: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: Cursor = null;
  do {
    const page = await readFolder(folder, 'name', cursor);
    ids.push(...page.entries.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== null);
  return ids;
}

export const dispatches = new Dispatches();
