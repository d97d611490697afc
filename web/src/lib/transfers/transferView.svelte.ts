// One transfer on a page: kept up to date by live events, with everything that can be done to it.
import { Problem } from '$lib/api/client';
import {
  decline,
  markOpened,
  readTransfer,
  resend,
  saveToShelf,
  withdraw,
  type Transfer,
  type TransferFile,
} from '$lib/api/transfers';
import { isUnopened } from '$lib/files/receiptSteps';
import { canBeHeld, checkCopy, receive, receiveUnchecked } from '$lib/files/verifiedDownload';
import { live } from '$lib/live/live.svelte';
import { showOnShelf, tellSaved } from './savedFiles';

export type TransferAction = 'download' | 'save' | 'decline' | 'check' | 'withdraw' | 'resend';

export class ViewedTransfer {
  readonly id: string;
  transfer = $state.raw<Transfer>();
  /** Why it cannot be shown. */
  problem = $state.raw<Problem>();
  /** What is being done now, and why the last did not work. */
  doing = $state<TransferAction>();
  failure = $state.raw<Problem>();
  /** How much of what is being downloaded or checked has been. */
  share = $state(0);
  #stop = new AbortController();
  #reading: Promise<void> | undefined;
  #isStale = false;

  /** What is known of it already, with all of its files, is shown at once. */
  constructor(id: string, known?: Transfer) {
    this.id = id;
    if (known?.cursor === null) this.transfer = known;
  }

  /** Read it, tell the sender that it was opened, and follow it; returns a function that ends it. */
  watch = (): (() => void) => {
    void this.refresh().then(() => this.#open());
    const changed = live.on('transfer.changed', (news) => {
      if (news.transfer_id !== this.id) return;
      // A download of many files causes an event for each; one read at its end is enough.
      if (this.doing) this.#isStale = true;
      else void this.refresh();
    });
    const missed = live.on('resync', () => void this.refresh());
    // A download continues: whoever looks at another page meanwhile still wants it.
    return () => {
      changed();
      missed();
    };
  };

  /** Give up what is being downloaded or checked. */
  stop = (): void => this.#stop.abort();

  /** Read it again; once more if something changes meanwhile. */
  refresh = (): Promise<void> => {
    this.#isStale = true;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  };

  /** All of it, or one file. */
  download = (files = this.transfer?.files ?? []): Promise<void> =>
    this.#do('download', async (transfer) => {
      if (canBeHeld(files)) await this.#receive(transfer, files);
      else
        for (const file of files) {
          if (canBeHeld([file])) await this.#receive(transfer, [file]);
          else await receiveUnchecked(transfer, file);
        }
      // Once, and not after each of thousands of files.
      return readTransfer(this.id);
    });

  /** Whether a copy on this device is what was sent. */
  check = (file: TransferFile, copy: File): Promise<void> =>
    this.#do('check', async (transfer) => {
      await checkCopy(transfer, file, copy, this.#progress, this.#stop.signal);
      return readTransfer(this.id);
    });

  /** Onto the shelf, unless it is there; then say where. */
  save = (): Promise<void> =>
    this.#do('save', async () => {
      const { transfer, files } = await saveToShelf(this.id);
      tellSaved(transfer, files);
      return transfer;
    });

  /** To where it lies on the shelf; copied there first, if it is not. */
  showOnShelf = (): Promise<void> =>
    this.#do('save', async () => {
      const { transfer, files } = await saveToShelf(this.id);
      await showOnShelf(transfer, files);
      return transfer;
    });

  decline = (): Promise<void> => this.#do('decline', () => decline(this.id));

  withdraw = (): Promise<void> => this.#do('withdraw', () => withdraw(this.id));

  /** The new one. */
  async resend(): Promise<Transfer | undefined> {
    let sent: Transfer | undefined;
    await this.#do('resend', async (transfer) => {
      sent = await resend(this.id);
      return transfer;
    });
    return sent;
  }

  #receive(transfer: Transfer, files: readonly TransferFile[]): Promise<void> {
    return receive(transfer, files, this.#progress, this.#stop.signal);
  }

  #progress = (share: number): void => {
    this.share = share;
  };

  async #open(): Promise<void> {
    if (!this.transfer || !isUnopened(this.transfer)) return;
    await this.#attempt(async () => {
      this.transfer = await markOpened(this.id);
    });
  }

  async #read(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      this.problem = await problemOf(async () => {
        this.transfer = await readTransfer(this.id);
      });
    }
  }

  async #do(action: TransferAction, work: (transfer: Transfer) => Promise<Transfer>): Promise<void> {
    const { transfer } = this;
    if (!transfer || this.doing) return;
    this.doing = action;
    this.share = 0;
    this.#stop = new AbortController();
    await this.#attempt(async () => {
      this.transfer = await work(transfer);
    });
    this.doing = undefined;
    if (this.#isStale) await this.refresh();
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    this.failure = await problemOf(work).catch((failure: unknown) => {
      if (!signal.aborted) throw failure;
      return undefined;
    });
  }
}

async function problemOf(work: () => Promise<void>): Promise<Problem | undefined> {
  try {
    await work();
    return undefined;
  } catch (failure) {
    if (failure instanceof Problem) return failure;
    throw failure;
  }
}
