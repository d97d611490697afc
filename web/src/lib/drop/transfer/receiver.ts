// The page's side of receiving one thing: it chooses a place, follows the worker, and puts the file there.
import type { Access, Announced, FromWorker, Status, ToWorker, TransferEvent } from './messages';
import { choosePlace, hand, type Placed } from './places';
import { Semaphore } from './semaphore';
import { isOver } from './sender';
import { startWorker } from './workers';

export type ReceiverOptions = {
  access: Access;
  fileId: string;
  ownerId: string;
  description: Announced;
  changed: (status: Status) => void;
  /** Ask where to save it, where browsers can; only in the handler of a click, and for one file of it. */
  ask?: boolean;
};

const AT_ONCE = 2;
// A receiver that waits longer for the owner's answer uses no connection, so it releases its slot to others.
const ASKING_MS = 5000;
const slots = new Semaphore(AT_ONCE);

export function startReceiver(options: ReceiverOptions): Receiver {
  return new Receiver(options);
}

export class Receiver {
  readonly fileId: string;
  status: Status;
  #options: ReceiverOptions;
  #placed: Placed | undefined;
  #worker: Worker | undefined;
  #release: () => void = () => undefined;
  #askTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.fileId = options.fileId;
    this.status = { stage: 'queued', bytes: 0, length: null };
    void this.#place();
  }

  get isOver(): boolean {
    return isOver(this.status);
  }

  /** Events about other transfers are ignored. */
  hear(event: TransferEvent): void {
    this.#say({ kind: 'heard', event });
  }

  /** Both sides are told, and nothing is left here. */
  cancel(): void {
    if (this.isOver) return;
    if (this.#worker) this.#say({ kind: 'stop' });
    else this.#become({ ...this.status, stage: 'ended', reason: 'cancelled' });
  }

  async #place(): Promise<void> {
    const { description, ask } = this.#options;
    this.#placed = await choosePlace(description, ask ?? false);
    if (this.isOver) return;
    if (this.#placed === 'cancelled') this.#become({ ...this.status, stage: 'ended', reason: 'cancelled' });
    else if (this.#placed === 'nowhere')
      this.#become({ ...this.status, stage: 'failed', failure: { kind: 'unsaved' } });
    // A text is short, so it does not wait for large files.
    else if (description.kind === 'text') this.#begin();
    else this.#release = slots.acquire(() => this.#begin());
  }

  #begin(): void {
    const { access, fileId, ownerId } = this.#options;
    if (typeof this.#placed !== 'object') return;
    const { place } = this.#placed;
    // What pages keep beside it cannot always be posted.
    const { kind, name, size, files, modified, type } = this.#options.description;
    const description = { kind, name, size, files, modified, type };
    const task: ToWorker = { kind: 'receive', access, fileId, ownerId, description, place };
    this.#worker = startWorker((news) => this.#told(news));
    this.#worker.postMessage(task, place.kind === 'download' ? [place.port] : []);
  }

  #told(news: FromWorker): void {
    if (news.kind === 'status') this.#become(news.status);
    else if (news.kind === 'written') hand(news, this.#options.description);
    else if (news.kind === 'over') this.#rest();
  }

  #say(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #rest(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#release();
    if (typeof this.#placed === 'object') this.#placed.release();
  }

  #become(status: Status): void {
    clearTimeout(this.#askTimer);
    if (status.stage === 'asking') this.#askTimer = setTimeout(() => this.#release(), ASKING_MS);
    this.status = status;
    this.#options.changed(status);
    if (isOver(status)) this.#release();
  }
}
