// Receives one thing in a worker: requests it, unseals it, writes it, and after a break requests the rest.
import { waitBefore } from '$lib/live/connection';
import { fromBase64, toBase64, type Bytes } from '../crypto/bytes';
import { BrokenOff, NotAsOffered, Untrusted } from '../crypto/errors';
import { Keys, receiptFor, refusalFor, type Asked, type Have, type Stream } from '../crypto/keys';
import { ChainDigest, Opener, type Opened } from '../crypto/records';
import { release } from '../crypto/release';
import { Control, Refused, Unreachable } from './control';
import { Deferred } from './deferred';
import { FolderArchive } from './folderArchive';
import { HeldBack, openInlet, type Way } from './inlet';
import type {
  Failure,
  FromWorker,
  ReceiveTask,
  Renamed,
  RequestView,
  Status,
  TransferEvent,
} from './messages';
import { cleanName } from './names';
import { openSink, type Sink } from './sinks';

const PROGRESS_MS = 1000;
const TOLD_EVERY_MS = 250;
const MOST_CONFIRMATIONS = 6;
const CONFIRMATION_MS = 30_000;
// What the owner has taken back, or nobody offers any more.
const GONE = new Set(['file-unknown']);
// Of this request alone: another one can still be made, at the latest when others are over.
const PASSING = new Set(['request-unknown', 'other-side-missing', 'stream-over', 'too-many-requests-open']);

type Acknowledgement = NonNullable<RequestView['acknowledged']>;

/** The owner said no, or somebody cancelled. */
class Ended extends Error {
  constructor(readonly reason: NonNullable<Status['reason']>) {
    super(reason);
  }
}

export class ReceiveJob {
  readonly #task: ReceiveTask;
  readonly #tell: (news: FromWorker) => void;
  readonly #control: Control;
  readonly #keys: Keys;
  readonly #stop = new AbortController();
  #status: Status = { stage: 'asking', bytes: 0, length: null };
  #digestKey: CryptoKey | undefined;
  #sink: Sink | undefined;
  #archive: FolderArchive | undefined;
  #have: Have | null = null;
  #asked: Asked | undefined;
  #stream: Stream | undefined;
  #answer = new Deferred<Acknowledgement>();
  #way: Way = 'answer';
  #attempt = 0;
  #hurry: () => void = () => undefined;
  #isCancelled = false;
  #toldAt = 0;

  constructor(task: ReceiveTask, tell: (news: FromWorker) => void) {
    this.#task = task;
    this.#tell = tell;
    this.#control = new Control(task.access);
    this.#keys = new Keys(task.access.keys);
  }

  async run(): Promise<void> {
    this.#become({});
    try {
      await this.#open();
      while (!(await this.#attempted())) await this.#pause();
    } catch (failure) {
      await this.#failed(failure);
    }
    this.#tell({ kind: 'over', known: null });
  }

  hear(event: TransferEvent): void {
    const own = this.#asked?.request.requestId;
    if (!own) return;
    if (event.type === 'requests') this.#heardAll(event.requests, own);
    else if (event.type === 'drop.request') this.#acknowledged([event.request], own);
    else if (event.request_id !== own) return;
    else if (event.type === 'drop.declined') this.#end(event.reason);
    else if (event.type === 'drop.ended') this.#end('cancelled');
  }

  stop(): void {
    this.#isCancelled = true;
    this.#end('cancelled');
  }

  #end(reason: NonNullable<Status['reason']>): void {
    this.#stop.abort(new Ended(reason));
  }

  #heardAll(requests: readonly RequestView[], own: string): void {
    this.#hurry();
    if (requests.some(({ request_id }) => request_id === own)) this.#acknowledged(requests, own);
    // A server that was started anew may not remember it; a stream that flows, if so, breaks by itself.
    else this.#answer.reject(new Unreachable('forgotten'));
  }

  #acknowledged(requests: readonly RequestView[], own: string): void {
    const answer = requests.find(({ request_id }) => request_id === own)?.acknowledged;
    if (answer) this.#answer.resolve(answer);
  }

  async #open(): Promise<void> {
    const { place, description, fileId } = this.#task;
    this.#digestKey = await this.#keys.digestKey(fileId);
    const { sink, have } = await openSink(place, description, this.#digestKey);
    this.#sink = sink;
    this.#have = have;
    if (description.kind === 'folder') this.#archive = new FolderArchive(description);
    this.#become({ bytes: have ? have.chunk * have.chunks : 0, length: have ? description.size : null });
  }

  /** Whether it is done. */
  async #attempted(): Promise<boolean> {
    try {
      const stream = await this.#ask();
      this.#stream = stream;
      this.#refuseIfOther(stream);
      if (stream.first === 0 && this.#have) await this.#restart();
      this.#become({ stage: 'flowing', bytes: stream.first * stream.chunk, length: stream.length });
      const digest = await this.#drain(stream);
      await this.#done(stream, digest);
      return true;
    } catch (failure) {
      this.#stop.signal.throwIfAborted();
      if (failure instanceof Refused && GONE.has(failure.slug)) throw new Ended('gone');
      const isInTheWay = failure instanceof Refused && failure.isOfProxy && this.#way === 'answer';
      if (failure instanceof HeldBack || isInTheWay) this.#way = this.#way === 'answer' ? 'socket' : 'answer';
      const isPassing = isInTheWay || (failure instanceof Refused && PASSING.has(failure.slug));
      if (!isPassing && !(failure instanceof Unreachable || failure instanceof BrokenOff)) throw failure;
      this.#become({ stage: 'broken' });
      return false;
    }
  }

  async #ask(): Promise<Stream> {
    const { fileId, ownerId, access } = this.#task;
    this.#answer = new Deferred();
    const asked = await this.#keys.ask(fileId, access.memberId, ownerId, this.#have);
    // Before it is sent, since the answer may come before the server's.
    this.#asked = asked;
    const { requestId, publicKey, sealed } = asked.request;
    const body = {
      request_id: requestId,
      file_id: fileId,
      public_key: toBase64(publicKey),
      sealed: toBase64(sealed),
    };
    await this.#control.post('/requests', body, this.#stop.signal);
    this.#become({ stage: 'asking' });
    const answer = await this.#unlessStopped(this.#answer.promise);
    return asked.accept(fromBase64(answer.public_key), fromBase64(answer.sealed));
  }

  /** Compares what was announced with what is about to come, before the first byte of it. */
  #refuseIfOther({ length, sum }: Stream): void {
    const { kind, size, files } = this.#task.description;
    const isOther = sum !== null && (sum.size !== size || sum.files !== files);
    // The length of a folder includes its headers, which nobody has announced.
    if (isOther || (kind !== 'folder' && size !== null && length !== size))
      throw new NotAsOffered('The owner sends something else than what was announced.');
  }

  async #restart(): Promise<void> {
    this.#have = null;
    if (this.#archive) this.#archive = new FolderArchive(this.#task.description);
    await this.#sink?.restart();
  }

  /** Everything up to the last record; the digest of the whole. */
  async #drain(stream: Stream): Promise<Bytes> {
    const { requestId } = (this.#asked as Asked).request;
    const digest = new ChainDigest(this.#digestKey as CryptoKey, stream.first, this.#have?.digest);
    const source = await openInlet(this.#control, requestId, this.#way, this.#stop.signal);
    const clock = setInterval(() => this.#report(requestId), PROGRESS_MS);
    try {
      for await (const opened of new Opener(stream, digest).open(source))
        await this.#write(opened, stream.chunk);
    } finally {
      clearInterval(clock);
    }
    return digest.value;
  }

  async #write({ chunk, chunks, digest }: Opened, whole: number): Promise<void> {
    const { length } = chunk;
    if (this.#archive) {
      await this.#sink?.write(this.#archive.feed(chunk));
      release(chunk);
    } else await this.#sink?.write(chunk);
    this.#have = { chunk: whole, chunks, digest };
    this.#attempt = 0;
    this.#status = { ...this.#status, bytes: (chunks - 1) * whole + length };
    if (performance.now() - this.#toldAt > TOLD_EVERY_MS) this.#become({});
  }

  /** So that the owner sees what we see, and we see all of it, even when no more comes. */
  #report(requestId: string): void {
    this.#become({});
    const body = { chunks: this.#have?.chunks ?? 0 };
    this.#control.post(`/requests/${requestId}/progress`, body, this.#stop.signal).catch(() => undefined);
  }

  async #done(stream: Stream, digest: Bytes): Promise<void> {
    this.#become({ stage: 'saving' });
    if (this.#archive) await this.#sink?.write(this.#archive.finish());
    const written = (await this.#sink?.finish()) ?? { file: null, part: null };
    this.#sink = undefined;
    const isText = this.#task.description.kind === 'text';
    if (isText) this.#become({ text: (await written.file?.text()) ?? '' });
    else this.#tell({ kind: 'written', ...written });
    await this.#confirm(toBase64(await receiptFor(stream, digest)));
    this.#become({
      stage: 'done',
      written: this.#archive?.written ?? { size: this.#status.bytes, files: 1 },
      renamed: this.#archive?.renamed ?? this.#renamed(),
    });
  }

  /** Whoever was asked for a name has chosen it. */
  #renamed(): Renamed[] {
    const { place, description } = this.#task;
    const name = cleanName(description.name);
    const isKept = place.kind === 'picked' || description.kind === 'text' || name === description.name;
    return isKept ? [] : [{ called: description.name, name }];
  }

  /** Retries a few times; the file is here, whether the owner hears of it or not. */
  async #confirm(receipt: string): Promise<void> {
    const path = `/requests/${this.#asked?.request.requestId}/done`;
    for (let attempt = 0; attempt < MOST_CONFIRMATIONS; attempt++) {
      try {
        return await this.#control.post(path, { receipt }, AbortSignal.timeout(CONFIRMATION_MS));
      } catch (failure) {
        if (!(failure instanceof Unreachable)) return;
        await new Promise((resolve) => setTimeout(resolve, waitBefore(attempt, Math.random())));
      }
    }
  }

  /** Backs off: waits a while, or until the network is back. */
  async #pause(): Promise<void> {
    const wait = waitBefore(this.#attempt++, Math.random());
    const over = new Promise<void>((resolve) => {
      this.#hurry = resolve;
      setTimeout(resolve, wait);
      addEventListener('online', () => resolve(), { once: true });
    });
    await this.#unlessStopped(over);
  }

  #unlessStopped<Result>(wanted: Promise<Result>): Promise<Result> {
    const { signal } = this.#stop;
    return new Promise((resolve, reject) => {
      const stopped = (): void => reject(signal.reason as Error);
      if (signal.aborted) stopped();
      signal.addEventListener('abort', stopped, { once: true });
      wanted.then(resolve, reject).finally(() => signal.removeEventListener('abort', stopped));
    });
  }

  async #failed(failure: unknown): Promise<void> {
    await this.#abandon().catch(() => undefined);
    if (failure instanceof Ended) this.#become({ stage: 'ended', reason: failure.reason });
    else this.#become({ stage: 'failed', failure: failureOf(failure) });
    if (this.#status.failure?.kind === 'tampered' && this.#stream) await this.#complain(this.#stream);
    if (this.#isCancelled || this.#status.stage === 'failed') await this.#withdraw();
  }

  async #abandon(): Promise<void> {
    await this.#sink?.abandon();
  }

  /** The owner should know that somebody in between changes what they send. */
  async #complain(stream: Stream): Promise<void> {
    await this.#confirm(toBase64(await refusalFor(stream)));
  }

  /** The owner need not send what nobody takes. */
  async #withdraw(): Promise<void> {
    const own = this.#asked?.request.requestId;
    if (own) await this.#control.delete(`/requests/${own}`).catch(() => undefined);
  }

  #become(change: Partial<Status>): void {
    this.#status = { ...this.#status, ...change };
    this.#toldAt = performance.now();
    this.#tell({ kind: 'status', status: this.#status });
  }
}

function failureOf(failure: unknown): Failure {
  if (failure instanceof Refused) return { kind: 'refused', refusal: failure.refusal };
  if (failure instanceof NotAsOffered) return { kind: 'differs' };
  return { kind: failure instanceof Untrusted ? 'tampered' : 'unsaved' };
}
