// Writes an archive front to back while its files are still arriving: stored as they are, of any number and size.
//
// Checksums are known only after the bytes, so they stand behind them (general purpose flag 3 of APPNOTE.TXT); what is
// too large for the format's first fields goes into its ZIP64 ones.
import { crc32 } from '$lib/files/crc32';

const LOCAL = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const ZIP64 = 0x0001;
const VERSION = 45;
// Systems other than these ignore the mode of a file.
const MADE_ON_UNIX = 3 << 8;
const NAMES_ARE_UTF8_AND_SUMS_BEHIND = 0x0808;
const FULL_16 = 0xffff;
const FULL_32 = 0xffffffff;
const FILE_MODE = 0o100644;
const PROGRAM_MODE = 0o100755;
const FOLDER_MODE = 0o040755;
const IS_FOLDER = 0x10;
// Info-ZIP's extended timestamp: seconds since 1970, in which no zone is lost.
const TIME_EXTRA = 0x5455;
const HAS_MODIFIED = 1;

type Entry = {
  name: Uint8Array;
  mode: number;
  time: number;
  stamp: Uint8Array;
  size: number;
  sum: number;
  offset: number;
};

export class ZipWriter {
  #entries: Entry[] = [];
  #current: Entry | undefined;
  #offset = 0;

  /** What to write before the bytes of a file; a folder is one whose path ends with `/`. */
  begin(path: string, modified: Date, size: number, executable = false): Uint8Array<ArrayBuffer> {
    const name = new TextEncoder().encode(path);
    const [time, stamp] = [dosTime(modified), stampOf(modified)];
    const mode = path.endsWith('/') ? FOLDER_MODE : executable ? PROGRAM_MODE : FILE_MODE;
    this.#current = { name, mode, time, stamp, size, sum: 0, offset: this.#offset };
    const extra = new Fields().bytes(stamp);
    if (isLarge(size)) extra.u16(ZIP64, 16).u64(0, 0);
    return this.#written(
      new Fields()
        .u32(LOCAL)
        .u16(VERSION, NAMES_ARE_UTF8_AND_SUMS_BEHIND, 0)
        .u32(time, 0)
        .u32(...(isLarge(size) ? [FULL_32, FULL_32] : [0, 0]))
        .u16(name.length, extra.length)
        .bytes(name, extra.done()),
    );
  }

  /** Counts bytes of the file that was begun; they are written as they are. */
  add(bytes: Uint8Array): void {
    const { current } = this;
    current.sum = crc32(bytes, current.sum);
    this.#offset += bytes.length;
  }

  /** What to write behind the bytes of a file. */
  end(): Uint8Array<ArrayBuffer> {
    const { current } = this;
    const { size, sum } = current;
    this.#entries.push(current);
    this.#current = undefined;
    const fields = new Fields().u32(DESCRIPTOR, sum);
    return this.#written(isLarge(size) ? fields.u64(size, size) : fields.u32(size, size));
  }

  /** What to write at the end: the list of everything that is inside. */
  finish(): Uint8Array<ArrayBuffer> {
    const [count, start] = [this.#entries.length, this.#offset];
    const fields = new Fields();
    for (const entry of this.#entries) listed(entry, fields);
    const length = fields.length;
    if (count >= FULL_16 || isLarge(start) || isLarge(length)) {
      fields.u32(END_64).u64(44).u16(VERSION, VERSION).u32(0, 0).u64(count, count, length, start);
      fields
        .u32(LOCATOR_64, 0)
        .u64(start + length)
        .u32(1);
    }
    const short = Math.min(count, FULL_16);
    fields.u32(END).u16(0, 0, short, short).u32(Math.min(length, FULL_32), Math.min(start, FULL_32)).u16(0);
    return this.#written(fields);
  }

  private get current(): Entry {
    if (!this.#current) throw new TypeError('No file was begun.');
    return this.#current;
  }

  #written(fields: Fields): Uint8Array<ArrayBuffer> {
    const bytes = fields.done();
    this.#offset += bytes.length;
    return bytes;
  }
}

function listed({ name, mode, time, stamp, size, sum, offset }: Entry, fields: Fields): void {
  const extra = new Fields().bytes(stamp);
  const large = [...(isLarge(size) ? [size, size] : []), ...(isLarge(offset) ? [offset] : [])];
  if (large.length) extra.u16(ZIP64, 8 * large.length).u64(...large);
  const shortSize = isLarge(size) ? FULL_32 : size;
  fields
    .u32(CENTRAL)
    .u16(MADE_ON_UNIX | VERSION, VERSION, NAMES_ARE_UTF8_AND_SUMS_BEHIND, 0)
    .u32(time, sum, shortSize, shortSize)
    .u16(name.length, extra.length, 0, 0, 0)
    .u32(mode * 2 ** 16 + (mode === FOLDER_MODE ? IS_FOLDER : 0), isLarge(offset) ? FULL_32 : offset)
    .bytes(name, extra.done());
}

function isLarge(value: number): boolean {
  return value >= FULL_32;
}

/** Nothing for times that 32 bits cannot say. */
function stampOf(moment: Date): Uint8Array {
  const seconds = Math.floor(+moment / 1000);
  if (seconds < -(2 ** 31) || seconds >= 2 ** 31) return new Uint8Array();
  return new Fields().u16(TIME_EXTRA, 5).bytes(Uint8Array.of(HAS_MODIFIED)).u32(seconds).done();
}

/** As the format has it: to two seconds, in the years from 1980 to 2107. */
function dosTime(moment: Date): number {
  const year = Math.min(Math.max(moment.getFullYear(), 1980), 2107);
  const date = ((year - 1980) << 9) | ((moment.getMonth() + 1) << 5) | moment.getDate();
  const time = (moment.getHours() << 11) | (moment.getMinutes() << 5) | (moment.getSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}

/** Little-endian numbers and bytes, one after another. */
class Fields {
  #bytes = new Uint8Array(128);
  length = 0;

  u16(...values: number[]): this {
    for (const value of values) this.#view(2).setUint16(0, value, true);
    return this;
  }

  u32(...values: number[]): this {
    for (const value of values) this.#view(4).setUint32(0, value, true);
    return this;
  }

  u64(...values: number[]): this {
    for (const value of values) this.#view(8).setBigUint64(0, BigInt(value), true);
    return this;
  }

  bytes(...parts: Uint8Array[]): this {
    for (const part of parts) {
      this.#room(part.length);
      this.#bytes.set(part, this.length);
      this.length += part.length;
    }
    return this;
  }

  done(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.length);
  }

  #view(width: number): DataView {
    this.#room(width);
    this.length += width;
    return new DataView(this.#bytes.buffer, this.length - width, width);
  }

  #room(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.length + more));
    larger.set(this.#bytes.subarray(0, this.length));
    this.#bytes = larger;
  }
}
