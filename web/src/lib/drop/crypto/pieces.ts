// Reads a stream in pieces of equal length, all in one buffer. At full speed, new memory for each piece would cost as
// much as decrypting it.
import type { Bytes } from './bytes';

// More pieces mean fewer reads. Chromium also keeps memory ready for WebCrypto's results, an eighth of what is in use.
// With less than this it frees and allocates memory for each result, which costs three times as much as decrypting it.
const PIECES = 16;

/** A source of bytes, which reads into the caller's buffer. */
export type Source = {
  /** Reads the next bytes into `into`, whose buffer is transferred to the result. No bytes mean the end. */
  read(into: Bytes): Promise<Bytes>;
  /** Ends the source early. */
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

/** A source from pieces of any length. `next` answers undefined after the last. */
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
  /** The range of the buffer that was read and not yet used. */
  #start = 0;
  #end = 0;

  constructor(source: Source, length: number) {
    this.#source = source;
    this.#length = length;
    this.#buffer = new ArrayBuffer(PIECES * length);
  }

  /** The piece, or the part of it that is there. It is valid until `fill` is called again. */
  get here(): Bytes {
    return new Uint8Array(this.#buffer, this.#start, Math.min(this.#end - this.#start, this.#length));
  }

  /** Reads until there is a whole piece. False if the stream ended before. */
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

  /** Marks so many bytes as used. The next piece begins after them. */
  pass(length: number): void {
    this.#start += length;
  }

  #moveToFront(): void {
    new Uint8Array(this.#buffer).copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
  }
}

/** A reader that fills our own buffer, or null where the stream does not support it. */
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

/** A stream that has failed cannot be cancelled, and need not be. */
function ended(reader: ReadableStreamDefaultReader<Bytes> | ReadableStreamBYOBReader): void {
  reader.cancel().catch(() => undefined);
}
