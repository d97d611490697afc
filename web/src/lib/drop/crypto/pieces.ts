// A stream taken in pieces of one length, all in one buffer: as fast as files come, new memory for each piece costs as
// much as opening it.
import type { Bytes } from './bytes';

// Reads are fewer, and Chromium keeps as much memory ready for WebCrypto's answers as an eighth of what is held: with less
// than this it gives back and takes anew the memory of each, which costs three times as much as opening it.
const PIECES = 16;

/** Bytes that come one after another, into the buffers of whoever wants them. */
export type Source = {
  /** The next bytes, some or none behind the last, in `into`; its buffer moves to the answer. */
  read(into: Bytes): Promise<Bytes>;
  /** Nobody wants more. */
  cancel(): void;
};

export function sourceOf(stream: ReadableStream<Bytes>): Source {
  const reader = directReader(stream);
  if (!reader) return ofDefaultReader(stream.getReader());
  return {
    read: async (into) => (await reader.read(into)).value ?? new Uint8Array(),
    cancel: () => ended(reader),
  };
}

/** Of what comes in pieces as long as they happen to be, undefined behind the last. */
export function sourceOfPieces(next: () => Promise<Bytes | undefined>, cancel: () => void): Source {
  let left: Bytes = new Uint8Array();
  return {
    async read(into) {
      if (!left.length) left = (await next()) ?? left;
      const taken = left.subarray(0, into.length);
      left = left.subarray(taken.length);
      into.set(taken);
      return into.subarray(0, taken.length);
    },
    cancel,
  };
}

export class PieceReader {
  readonly #source: Source;
  readonly #length: number;
  #buffer: ArrayBuffer;
  /** Where in the buffer that begins and ends which has come and was not passed. */
  #start = 0;
  #end = 0;

  constructor(source: Source, length: number) {
    this.#source = source;
    this.#length = length;
    this.#buffer = new ArrayBuffer(PIECES * length);
  }

  /** The piece, or what there is of it, until `fill` is called again. */
  get here(): Bytes {
    return new Uint8Array(this.#buffer, this.#start, Math.min(this.#end - this.#start, this.#length));
  }

  /** Whether a whole piece is here now; if not, nothing more comes. */
  async fill(): Promise<boolean> {
    while (this.#end - this.#start < this.#length) {
      if (this.#buffer.byteLength - this.#start < this.#length) this.#moveToFront();
      const read = await this.#source.read(new Uint8Array(this.#buffer, this.#end));
      this.#buffer = read.buffer;
      this.#end += read.length;
      if (!read.length) return false;
    }
    return true;
  }

  /** So much of the piece has been used; what is behind it begins the next. */
  pass(length: number): void {
    this.#start += length;
  }

  #moveToFront(): void {
    new Uint8Array(this.#buffer).copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
  }
}

/** What reads into our own memory, where browsers have it. */
function directReader(stream: ReadableStream<Bytes>): ReadableStreamBYOBReader | null {
  try {
    return stream.getReader({ mode: 'byob' });
  } catch (failure) {
    if (failure instanceof TypeError) return null;
    throw failure;
  }
}

function ofDefaultReader(reader: ReadableStreamDefaultReader<Bytes>): Source {
  return sourceOfPieces(
    async () => (await reader.read()).value,
    () => ended(reader),
  );
}

/** What has failed cannot be ended, and need not be. */
function ended(reader: ReadableStreamDefaultReader<Bytes> | ReadableStreamBYOBReader): void {
  reader.cancel().catch(() => undefined);
}
