// Sends one thing in a worker: finds where to begin, reads, seals, sends, and waits for the receiver's receipt.
import { fromBase64, isEqual, toBase64, type Bytes } from '../crypto/bytes';
import { Untrusted } from '../crypto/errors';
import {
  CHUNK_BYTES,
  isReceipt,
  isRefusal,
  Keys,
  type Have,
  type RequestFacts,
  type Stream,
} from '../crypto/keys';
import { PieceReader, sourceOf } from '../crypto/pieces';
import { ChainDigest, sealedBytes, Sealer } from '../crypto/records';
import { Control, isAbort, Refused, Unreachable } from './control';
import { Deferred } from './deferred';
import { Marks } from './marks';
import type { FromWorker, RequestView, SendTask, Status, TransferEvent } from './messages';
import { Outlet, SEGMENT_BYTES } from './outlet';
import { SegmentBuffer } from './segments';

const CHUNKS_IN_SEGMENT = SEGMENT_BYTES / CHUNK_BYTES;
// The last record comes with the last segment.
const MOST_SEALED_BYTES = sealedBytes({ length: SEGMENT_BYTES, chunk: CHUNK_BYTES, first: 0 }) as number;
const RECEIPT_TIMEOUT_MS = 60_000;
const MOST_CLAIMS = 16;
// The other side is not there, or this request is none any more: it will ask again.
const PASSING = new Set([
  'receiver-gone',
  'other-side-missing',
  'segment-out-of-place',
  'stream-over',
  'request-unknown',
]);

/** The receiver says that what came was changed on its way. */
class Complained extends Error {}

export class SendJob {
  readonly #task: SendTask;
  readonly #tell: (news: FromWorker) => void;
  readonly #control: Control;
  readonly #keys: Keys;
  readonly #path: string;
  readonly #stop = new AbortController();
  readonly #marks: Marks;
  #status: Status;
  #stream: Stream | undefined;
  /** What was said to be a receipt and is not looked at yet. The server can invent as many as it likes. */
  #claims: Bytes[] = [];
  #claimed = new Deferred<void>();

  constructor(task: SendTask, tell: (news: FromWorker) => void) {
    this.#task = task;
    this.#tell = tell;
    this.#control = new Control(task.access);
    this.#keys = new Keys(task.access.keys);
    this.#path = `/requests/${task.request.request_id}`;
    this.#marks = new Marks(task.known);
    this.#status = { stage: 'asking', bytes: 0, length: task.content.size };
  }

  async run(): Promise<void> {
    this.#become({});
    try {
      const { stream, digest } = await this.#agree();
      await this.#flow(stream, digest);
      await this.#conclude(stream, await digest.value);
    } catch (failure) {
      await this.#failed(failure);
    }
    this.#tell({ kind: 'over', known: this.#marks.bytes });
  }

  hear(event: TransferEvent): void {
    if (event.type === 'drop.progress') {
      const bytes = Math.min(event.chunks * CHUNK_BYTES, this.#task.content.size);
      if (this.#status.stage === 'flowing') this.#become({ bytes });
    } else if (event.type === 'drop.done') {
      void this.#weigh(event.receipt);
    } else if (event.type === 'drop.ended' || event.type === 'drop.declined') {
      if (!this.#claims.length) this.#stop.abort();
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Acknowledges the request, beginning behind what the receiver has. */
  async #agree(): Promise<{ stream: Stream; digest: ChainDigest }> {
    const { request, content } = this.#task;
    const facts = factsOf(request);
    const digest = await this.#shared(await this.#keys.openRequest(facts));
    const agreement = {
      length: content.size,
      chunk: CHUNK_BYTES,
      first: digest.chunks,
      sum: this.#task.announced,
    };
    const { publicKey, sealed, stream } = await this.#keys.acknowledge(facts, agreement);
    this.#stream = stream;
    const body = {
      public_key: toBase64(publicKey),
      sealed: toBase64(sealed),
      chunks: Math.ceil(content.size / CHUNK_BYTES) - digest.chunks,
      bytes: sealedBytes(stream),
    };
    await this.#control.post(`${this.#path}/acknowledge`, body, this.#stop.signal);
    this.#become({ stage: 'flowing', bytes: digest.chunks * CHUNK_BYTES });
    return { stream, digest };
  }

  async #conclude(stream: Stream, digest: Bytes): Promise<void> {
    await this.#confirmed(stream, digest);
    this.#become({ stage: 'done', bytes: this.#task.content.size });
  }

  /** A complaint ends it. What may be a receipt is kept until we know what it has to be. */
  async #weigh(receipt: string): Promise<void> {
    const claim = bytesOf(receipt);
    if (this.#stream && (await isRefusal(this.#stream, claim))) return this.#stop.abort(new Complained());
    this.#claims = [...this.#claims, claim].slice(-MOST_CLAIMS);
    this.#claimed.resolve();
  }

  /** The digest of what both sides have the same of; nothing if they differ. */
  async #shared(have: Have | null): Promise<ChainDigest> {
    const { content, request } = this.#task;
    const key = await this.#keys.digestKey(request.file_id);
    if (have?.chunk !== CHUNK_BYTES || have.chunks * CHUNK_BYTES > content.size) return new ChainDigest(key);
    const { chunks, value } = this.#marks.before(have.chunks);
    const digest = new ChainDigest(key, chunks, value);
    for await (const chunk of this.#chunks(chunks, have.chunks)) {
      const added = digest.add(chunk);
      if (digest.chunks % CHUNKS_IN_SEGMENT === 0) this.#marks.note(digest.chunks, await added);
    }
    return isEqual(await digest.value, have.digest) ? digest : new ChainDigest(key);
  }

  async #flow(stream: Stream, digest: ChainDigest): Promise<void> {
    const { content, request, inFlight } = this.#task;
    const outlet = new Outlet(this.#control, request.request_id, inFlight, this.#stop.signal);
    const sealer = new Sealer(stream, digest);
    const count = Math.ceil(content.size / CHUNK_BYTES);
    const segment = new SegmentBuffer(MOST_SEALED_BYTES);
    for await (const chunk of this.#chunks(digest.chunks, count)) {
      segment.add(sealer.seal(chunk));
      // The first is shorter if it begins in the middle of one, so that marks are where they are looked for.
      if (digest.chunks % CHUNKS_IN_SEGMENT || digest.chunks === count) continue;
      await outlet.send(await segment.take(), false);
      this.#marks.note(digest.chunks, await digest.value);
    }
    segment.add(sealer.final());
    await outlet.send(await segment.take(), true);
    this.#marks.note(digest.chunks, await digest.value);
    try {
      await outlet.finish();
    } catch (failure) {
      // Perhaps only the answer was lost with the line: whether everything has arrived, the receipt tells.
      if (!(failure instanceof Unreachable)) throw failure;
    }
  }

  /** Each is there until the next is asked for. */
  async *#chunks(first: number, end: number): AsyncGenerator<Bytes, void> {
    const part = this.#task.content.slice(first * CHUNK_BYTES, end * CHUNK_BYTES);
    const source = sourceOf(part.stream());
    const pieces = new PieceReader(source, CHUNK_BYTES);
    try {
      for (let left = part.size; left > 0; left -= CHUNK_BYTES) {
        await pieces.fill();
        this.#stop.signal.throwIfAborted();
        const chunk = pieces.here;
        if (chunk.length < Math.min(left, CHUNK_BYTES)) throw unreadable('The file is shorter now.');
        yield chunk;
        pieces.pass(chunk.length);
      }
    } catch (failure) {
      throw failure instanceof TypeError ? unreadable('The file cannot be read on.') : failure;
    } finally {
      source.cancel();
    }
  }

  /** For as long as it takes: it may have been given while we were offline, and only we can tell whether it is right. */
  async #confirmed(stream: Stream, digest: Bytes): Promise<void> {
    const late = setTimeout(() => this.#become({ stage: 'broken' }), RECEIPT_TIMEOUT_MS);
    const { signal } = this.#stop;
    signal.addEventListener('abort', () => this.#claimed.reject(signal.reason));
    try {
      for (;;) {
        signal.throwIfAborted();
        // A forged one is passed over: the right one may still come.
        const claims = this.#claims.splice(0);
        for (const claim of claims) if (await isReceipt(stream, claim, digest)) return;
        await this.#claimed.promise;
        this.#claimed = new Deferred();
      }
    } finally {
      clearTimeout(late);
    }
  }

  async #failed(failure: unknown): Promise<void> {
    if (this.#stop.signal.reason instanceof Complained) {
      this.#become({ stage: 'failed', failure: { kind: 'complained' } });
    } else if (isAbort(failure)) {
      this.#become({ stage: 'ended', reason: 'cancelled' });
    } else if (failure instanceof Unreachable || (failure instanceof Refused && PASSING.has(failure.slug))) {
      this.#become({ stage: 'broken' });
    } else if (failure instanceof Refused) {
      this.#become({ stage: 'failed', failure: { kind: 'refused', refusal: failure.refusal } });
    } else if (failure instanceof Untrusted) {
      this.#become({ stage: 'failed', failure: { kind: 'tampered' } });
    } else if (failure instanceof DOMException) {
      // Browsers do not read on in a file that is no longer what was chosen.
      this.#become({ stage: 'failed', failure: { kind: 'changed' } });
      const declined = this.#control.post(
        `${this.#path}/decline`,
        { reason: 'changed' },
        AbortSignal.timeout(10_000),
      );
      await declined.catch(() => undefined);
    } else {
      throw failure;
    }
  }

  #become(change: Partial<Status>): void {
    this.#status = { ...this.#status, ...change };
    this.#tell({ kind: 'status', status: this.#status });
  }
}

/** Nothing, if it is not even written as bytes are. */
function bytesOf(written: string): Bytes {
  try {
    return fromBase64(written);
  } catch {
    return new Uint8Array();
  }
}

function unreadable(why: string): DOMException {
  return new DOMException(why, 'NotReadableError');
}

function factsOf(request: RequestView): RequestFacts {
  return {
    requestId: request.request_id,
    fileId: request.file_id,
    receiverId: request.receiver_id,
    ownerId: request.owner_id,
    publicKey: fromBase64(request.public_key),
    sealed: fromBase64(request.sealed),
  };
}
