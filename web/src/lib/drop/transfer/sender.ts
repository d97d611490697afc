// The page's side of sending one thing to one receiver: it answers the request, and answers again after a break.
import type { Content } from './content';
import { Control } from './control';
import type { Access, FromWorker, RequestView, Status, ToWorker, TransferEvent } from './messages';
import { Semaphore } from './semaphore';
import { startWorker } from './workers';

export type SenderOptions = {
  access: Access;
  content: Content;
  /** Asked of us and not yet acknowledged. */
  request: RequestView;
  changed: (status: Status) => void;
};

const AT_ONCE = 3;
const slots = new Semaphore(AT_ONCE);
// Digests that were computed for one receiver serve the next one, too.
const digests = new WeakMap<Content, { fileId: string; known: Uint8Array<ArrayBuffer> }>();

export function startSender(options: SenderOptions): Sender {
  return new Sender(options);
}

export class Sender {
  readonly fileId: string;
  readonly receiverId: string;
  status: Status;
  #options: SenderOptions;
  #request: RequestView;
  #worker: Worker | undefined;
  #release: () => void = () => undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#request = options.request;
    this.fileId = options.request.file_id;
    this.receiverId = options.request.receiver_id;
    this.status = { stage: 'queued', bytes: 0, length: options.content.bytes.size };
    this.#answer();
  }

  get requestId(): string {
    return this.#request.request_id;
  }

  get isOver(): boolean {
    return isOver(this.status);
  }

  /** Whether this was about us. A new request of the same receiver for the same thing resumes what broke off. */
  hear(event: TransferEvent): boolean {
    if (this.isOver || event.type === 'requests') return false;
    if (event.type === 'drop.request') return this.#asked(event.request);
    if (event.request_id !== this.requestId) return false;
    if (this.#worker) this.#say({ kind: 'heard', event });
    else if (event.type === 'drop.ended')
      this.#become({ ...this.status, stage: 'ended', reason: 'cancelled' });
    return true;
  }

  /** Both sides are told. */
  cancel(): void {
    if (this.isOver) return;
    const { access } = this.#options;
    new Control(access).delete(`/requests/${this.requestId}`).catch(() => undefined);
    if (this.#worker) this.#say({ kind: 'stop' });
    else this.#become({ ...this.status, stage: 'ended', reason: 'cancelled' });
  }

  #asked(request: RequestView): boolean {
    if (request.request_id === this.requestId) return true;
    if (request.file_id !== this.fileId || request.receiver_id !== this.receiverId) return false;
    this.#request = request;
    // Its worker has read what we need not read again, so it may say so before another takes its place.
    if (this.#worker) this.#say({ kind: 'stop' });
    else this.#answer();
    return true;
  }

  #answer(): void {
    this.#release();
    this.#become({ ...this.status, stage: 'queued' });
    this.#release = slots.acquire(() => this.#begin(this.#request));
  }

  #begin(request: RequestView): void {
    const { access, content } = this.#options;
    const noted = digests.get(content);
    const known = noted?.fileId === this.fileId ? noted.known : new Uint8Array();
    // Two keep the line full while one answer is under way; with others beside it that is done by them.
    const inFlight = slots.free === AT_ONCE - 1 ? 2 : 1;
    this.#worker = startWorker((news) => this.#told(news, request));
    const { size, files } = content.description;
    const announced = { size, files };
    this.#say({ kind: 'send', access, request, content: content.bytes, announced, known, inFlight });
  }

  #told(news: FromWorker, request: RequestView): void {
    const isCurrent = request === this.#request;
    if (news.kind === 'status' && isCurrent) this.#become(news.status);
    if (news.kind !== 'over') return;
    if (news.known) digests.set(this.#options.content, { fileId: this.fileId, known: news.known });
    this.#rest();
    if (!isCurrent) this.#answer();
  }

  #say(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #rest(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#release();
  }

  #become(status: Status): void {
    this.status = status;
    this.#options.changed(status);
    if (isOver(status) || status.stage === 'broken') this.#release();
  }
}

export function isOver({ stage }: Status): boolean {
  return stage === 'done' || stage === 'ended' || stage === 'failed';
}
