// A stream taken in pieces of one length, all in one buffer: as fast as files come, new memory for each piece costs as
// much as opening it.
import type { Bytes } from './bytes';

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
  #filled = 0;

  constructor(source: Source, length: number) {
    this.#source = source;
    this.#length = length;
    this.#buffer = new ArrayBuffer(length);
  }

  /** What has come, until `fill` is called again. */
  get here(): Bytes {
    return new Uint8Array(this.#buffer, 0, this.#filled);
  }

  /** Whether a whole piece is here now; if not, nothing more comes. */
  async fill(): Promise<boolean> {
    while (this.#filled < this.#length) {
      const read = await this.#source.read(new Uint8Array(this.#buffer, this.#filled));
      this.#buffer = read.buffer;
      this.#filled += read.length;
      if (!read.length) return false;
    }
    return true;
  }

  /** So much has been used; what is behind it begins the next piece. */
  pass(length: number): void {
    this.here.copyWithin(0, length);
    this.#filled -= length;
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
