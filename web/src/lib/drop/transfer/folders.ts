// Reads a folder as it travels: for each thing inside a header, and then its bytes, cut anywhere.
import { Tampered } from '../crypto/errors';

export type Header = {
  path: string;
  size: number;
  modified: Date;
  kind: 'file' | 'folder';
  executable: boolean;
};

/** What is done with each thing inside, in the order in which it comes. */
export type Visitor = {
  begin(header: Header): void;
  add(bytes: Uint8Array<ArrayBuffer>): void;
  end(): void;
};

const LENGTH_BYTES = 4;
// The longest path that systems know is 4 KiB, and every byte of it may be escaped.
const MOST_HEADER_BYTES = 64 * 1024;

export class FolderReader {
  #visitor: Visitor;
  #header = new Uint8Array(LENGTH_BYTES);
  #have = 0;
  #isLength = true;
  /** Bytes still to come of the thing that was begun. */
  #left = 0;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
  }

  feed(bytes: Uint8Array<ArrayBuffer>): void {
    for (let at = 0; at < bytes.length;) {
      at += this.#left ? this.#content(bytes.subarray(at)) : this.#beginning(bytes.subarray(at));
    }
  }

  /** Raises if something is missing. */
  finish(): void {
    if (this.#left || this.#have || !this.#isLength)
      throw new Tampered('The folder ends in the middle of something.');
  }

  #content(bytes: Uint8Array<ArrayBuffer>): number {
    const taken = Math.min(this.#left, bytes.length);
    this.#visitor.add(bytes.subarray(0, taken));
    this.#left -= taken;
    if (!this.#left) this.#visitor.end();
    return taken;
  }

  #beginning(bytes: Uint8Array): number {
    const taken = Math.min(this.#header.length - this.#have, bytes.length);
    this.#header.set(bytes.subarray(0, taken), this.#have);
    this.#have += taken;
    if (this.#have === this.#header.length) this.#complete();
    return taken;
  }

  #complete(): void {
    this.#have = 0;
    if (this.#isLength) {
      const length = new DataView(this.#header.buffer).getUint32(0);
      if (!length || length > MOST_HEADER_BYTES) throw new Tampered('A header of a folder is too long.');
      this.#header = new Uint8Array(length);
      this.#isLength = false;
      return;
    }
    const header = headerFrom(this.#header);
    this.#header = new Uint8Array(LENGTH_BYTES);
    this.#isLength = true;
    this.#left = header.size;
    this.#visitor.begin(header);
    if (!this.#left) this.#visitor.end();
  }
}

function headerFrom(bytes: Uint8Array): Header {
  let read: Partial<Record<'path' | 'size' | 'modified' | 'kind' | 'executable', unknown>>;
  try {
    read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as typeof read;
  } catch (cause) {
    throw new Tampered('A header of a folder is no JSON.', { cause });
  }
  const { path, size, modified, kind, executable } = read;
  if (
    typeof path !== 'string' ||
    !Number.isSafeInteger(size) ||
    (size as number) < 0 ||
    (kind !== 'file' && kind !== 'folder')
  )
    throw new Tampered('A header of a folder lacks what it must say.');
  const moment = new Date(typeof modified === 'string' ? modified : NaN);
  return {
    path,
    kind,
    size: kind === 'file' ? (size as number) : 0,
    modified: isNaN(+moment) ? new Date() : moment,
    executable: kind === 'file' && executable === true,
  };
}
