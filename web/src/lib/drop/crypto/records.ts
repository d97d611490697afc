// Authenticated encryption of a content in records. A change, cut or reordering is detected.
//
//     digest = new ChainDigest(await keys.digestKey(fileId))
//     sealer = new Sealer(stream, digest)             digest.chunks is stream.first
//     await Promise.all(chunks.map((chunk) => sealer.seal(chunk)))    in order, any number at once
//     await sealer.final()
//
//     for await (const { chunk, chunks, digest } of new Opener(stream, chain).open(source)) …
//
// Buffers that are passed in may be reused as soon as the call returns, because WebCrypto has copied them by then.
import { concat, isEqual, u64, type Bytes } from './bytes';
import { BrokenOff, Tampered } from './errors';
import type { Stream } from './keys';
import { PieceReader, type Source } from './pieces';
import { decrypt, encrypt, gmac, sha256 } from './seal';

const TAG_BYTES = 16;
const LAST_RECORD_BYTES = 64;
const NO_AAD = new Uint8Array();

/** The length of the stream in bytes, or null while the length of the content is not known. */
export function sealedBytes({
  length,
  chunk,
  first,
}: Pick<Stream, 'length' | 'chunk' | 'first'>): number | null {
  if (length === null) return null;
  const records = Math.ceil(length / chunk) - first;
  return length - first * chunk + records * TAG_BYTES + LAST_RECORD_BYTES;
}

/** The keyed chain digest of a content, which can be resumed at any chunk. */
export class ChainDigest {
  readonly #key: CryptoKey;
  #chunks: number;
  #value: Promise<Bytes>;

  constructor(key: CryptoKey, chunks = 0, value: Bytes = new Uint8Array(32)) {
    this.#key = key;
    this.#chunks = chunks;
    this.#value = Promise.resolve(value);
  }

  get chunks(): number {
    return this.#chunks;
  }

  get value(): Promise<Bytes> {
    return this.#value;
  }

  /** The digest up to and including this chunk. Calls need not wait for each other. */
  add(chunk: Bytes | Promise<Bytes>): Promise<Bytes> {
    const nonce = concat(new Uint8Array(4), u64(this.#chunks));
    const tagOf = (bytes: Bytes) => gmac(this.#key, nonce, bytes);
    const own = chunk instanceof Promise ? chunk.then(tagOf) : tagOf(chunk);
    this.#chunks += 1;
    this.#value = Promise.all([this.#value, own]).then((both) => sha256(concat(...both)));
    // A failure reaches those who await the chunk or the value. If nobody does, it must not be an unhandled rejection.
    this.#value.catch(() => undefined);
    return this.#value;
  }
}

export class Sealer {
  readonly #stream: Stream;
  readonly #digest: ChainDigest;
  #length: number;

  constructor(stream: Stream, digest: ChainDigest) {
    if (digest.chunks !== stream.first) throw new RangeError('The digest is that of another beginning.');
    this.#stream = stream;
    this.#digest = digest;
    this.#length = stream.first * stream.chunk;
  }

  /** The next record. All chunks are whole but the last, which is not empty. */
  async seal(chunk: Bytes): Promise<Bytes> {
    const { key, chunk: whole } = this.#stream;
    if (this.#length % whole || chunk.length < 1 || chunk.length > whole) {
      throw new RangeError('Only the last chunk may be short, and none empty.');
    }
    const nonce = nonceOf(this.#digest.chunks, false);
    this.#length += chunk.length;
    const digested = this.#digest.add(chunk);
    const [record] = await Promise.all([encrypt(key, nonce, NO_AAD, chunk), digested]);
    return record;
  }

  /** The last record, which proves that nothing is missing. */
  async final(): Promise<Bytes> {
    const { key, length } = this.#stream;
    if (length !== null && length !== this.#length) throw new RangeError('The content has another length.');
    const { chunks } = this.#digest;
    const summary = summaryOf(this.#length, chunks, await this.#digest.value);
    return encrypt(key, nonceOf(chunks, true), NO_AAD, summary);
  }
}

/** A chunk of the content, and the number and digest of the chunks up to it. */
export type Opened = { chunk: Bytes; chunks: number; digest: Bytes };

export class Opener {
  readonly #stream: Stream;
  readonly #digest: ChainDigest;
  #taken = 0;
  #length: number;

  constructor(stream: Stream, digest: ChainDigest) {
    if (digest.chunks !== stream.first) throw new RangeError('The digest is that of another beginning.');
    this.#stream = stream;
    this.#digest = digest;
    this.#length = stream.first * stream.chunk;
  }

  /**
   * Yields the chunks in order, and ends only after a valid last record. Raises BrokenOff if the stream ends too early,
   * and Tampered if something is not what the owner sealed.
   */
  async *open(source: Source): AsyncGenerator<Opened, void> {
    const record = this.#stream.chunk + TAG_BYTES;
    // A record is a whole chunk for certain only if as many bytes follow as a last record has.
    const pieces = new PieceReader(source, record + LAST_RECORD_BYTES);
    try {
      for (let filling = pieces.fill(); await filling;) {
        const next = this.#next(pieces.here.subarray(0, record));
        pieces.pass(record);
        this.#taken += record;
        // Read ahead while this chunk is decrypted and written. If that fails, nobody awaits the read.
        filling = pieces.fill();
        filling.catch(() => undefined);
        yield await next;
      }
      yield* this.#end(pieces.here);
    } finally {
      // The caller may stop early, or a record may be invalid: the source must end, too.
      source.cancel();
    }
  }

  /** The last chunk is yielded only after the last record was verified. */
  async *#end(left: Bytes): AsyncGenerator<Opened, void> {
    const short = left.length - LAST_RECORD_BYTES;
    this.#taken += left.length;
    if (short < 0 || (short > 0 && short <= TAG_BYTES)) throw this.#tooShort();
    const summary = await this.#summary(this.#digest.chunks + (short ? 1 : 0), left.subarray(short));
    const last = short ? await this.#next(left.subarray(0, short)) : undefined;
    const right = summaryOf(this.#length, this.#digest.chunks, await this.#digest.value);
    const { length } = this.#stream;
    if (!isEqual(summary, right) || (length !== null && length !== this.#length)) {
      throw new Tampered('What came is not what the owner sent.');
    }
    if (last) yield last;
  }

  async #summary(chunks: number, record: Bytes): Promise<Bytes> {
    try {
      return await decrypt(this.#stream.key, nonceOf(chunks, true), NO_AAD, record);
    } catch (error) {
      throw error instanceof Tampered ? this.#tooShort(error) : error;
    }
  }

  /** At its end, a stream that was cut looks like one that was changed. Only the length tells them apart. */
  #tooShort(cause?: Tampered): BrokenOff | Tampered {
    const wanted = sealedBytes(this.#stream);
    if (cause && wanted === this.#taken) return cause;
    return new BrokenOff('The stream ended before its last record.', { cause });
  }

  #next(record: Bytes): Promise<Opened> {
    const { key, length } = this.#stream;
    this.#length += record.length - TAG_BYTES;
    if (length !== null && length < this.#length) throw new Tampered('More comes than was agreed on.');
    const opened = decrypt(key, nonceOf(this.#digest.chunks, false), NO_AAD, record);
    const digest = this.#digest.add(opened);
    const { chunks } = this.#digest;
    const next = Promise.all([opened, digest]).then(([chunk, value]) => ({ chunk, chunks, digest: value }));
    // A failure is raised when this is awaited, in order. If an earlier one fails, nobody awaits this one.
    next.catch(() => undefined);
    return next;
  }
}

/** The index in 11 bytes, and a byte that says whether the record is the last. */
function nonceOf(index: number, isLast: boolean): Bytes {
  return concat(new Uint8Array(3), u64(index), Uint8Array.of(isLast ? 1 : 0));
}

function summaryOf(length: number, chunks: number, digest: Bytes): Bytes {
  return concat(u64(length), u64(chunks), digest);
}
