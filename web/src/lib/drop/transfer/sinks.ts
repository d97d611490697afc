// Where a worker writes what arrives: a file that was picked, the browser's private disk, a running download, or memory.
import type { Bytes } from '../crypto/bytes';
import type { Have } from '../crypto/keys';
import { release } from '../crypto/release';
import { createPart, type Part } from './parts';
import type { Announced, Place } from './messages';

/** What the page does with what was written: nothing, if it is where it should be. */
export type Written = { file: File | Blob | null; part: string | null };

export type Sink = {
  /** Takes over `bytes`; nobody uses them again. */
  write(bytes: Bytes): Promise<void> | void;
  /** Begin anew. */
  restart(): Promise<void> | void;
  finish(): Promise<Written>;
  /** Nothing stays behind. */
  abandon(): Promise<void> | void;
};

/** It cannot be written here. */
export class Unsaved extends Error {}

const MOST_IN_MEMORY_BYTES = 256 * 2 ** 20;
// Every write to a file that was picked goes through another process and back.
const GATHERED_BYTES = 4 * 2 ** 20;

/** With what is there already, if this place remembers. */
export async function openSink(
  place: Place,
  description: Announced,
  digestKey: CryptoKey,
): Promise<{ sink: Sink; have: Have | null }> {
  if (place.kind === 'private') {
    const part = await createPart(description);
    return { sink: new PrivateSink(part), have: await part.recount(digestKey) };
  }
  if (place.kind === 'picked') return { sink: await PickedSink.open(place.handle), have: null };
  return { sink: place.kind === 'download' ? new DownloadSink(place.port) : new MemorySink(), have: null };
}

/** What browsers show to nobody, until the page has it downloaded from there. */
class PrivateSink implements Sink {
  readonly #part: Part;

  constructor(part: Part) {
    this.#part = part;
  }

  write(bytes: Bytes): void {
    this.#part.append(bytes);
    release(bytes);
  }

  restart(): void {
    this.#part.restart();
  }

  async finish(): Promise<Written> {
    return { file: await this.#part.finish(), part: this.#part.id };
  }

  abandon(): Promise<void> {
    return this.#part.remove();
  }
}

class PickedSink implements Sink {
  readonly #file: FileSystemWritableFileStream;
  #gathered: Bytes[] = [];
  #length = 0;

  constructor(file: FileSystemWritableFileStream) {
    this.#file = file;
  }

  static async open(handle: FileSystemFileHandle): Promise<PickedSink> {
    return new PickedSink(await handle.createWritable());
  }

  async write(bytes: Bytes): Promise<void> {
    this.#gathered.push(bytes);
    this.#length += bytes.length;
    if (this.#length >= GATHERED_BYTES) await this.#flush();
  }

  async restart(): Promise<void> {
    this.#gathered = [];
    this.#length = 0;
    await this.#file.truncate(0);
    await this.#file.seek(0);
  }

  async finish(): Promise<Written> {
    await this.#flush();
    await this.#file.close();
    return { file: null, part: null };
  }

  abandon(): Promise<void> {
    return this.#file.abort();
  }

  async #flush(): Promise<void> {
    const gathered = new Blob(this.#gathered);
    this.#gathered.forEach(release);
    this.#gathered = [];
    this.#length = 0;
    if (gathered.size) await this.#file.write(gathered);
  }
}

/** Through the service worker, which asks for more as the browser's download takes it. */
class DownloadSink implements Sink {
  readonly #port: MessagePort;
  #asked: (() => void) | undefined;
  #wanted = 0;
  #isGone = false;
  #hasBegun = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<'more' | 'gone'>) => {
      if (data === 'more') this.#wanted += 1;
      else this.#isGone = true;
      this.#asked?.();
    };
  }

  async write(bytes: Bytes): Promise<void> {
    while (!this.#wanted && !this.#isGone) await new Promise<void>((resolve) => (this.#asked = resolve));
    if (this.#isGone) throw new Unsaved('The download was cancelled.');
    this.#wanted -= 1;
    this.#hasBegun = true;
    this.#port.postMessage(bytes, bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : []);
  }

  restart(): void {
    if (this.#hasBegun) throw new Unsaved('A download cannot begin anew.');
  }

  async finish(): Promise<Written> {
    this.#port.postMessage('end');
    return { file: null, part: null };
  }

  abandon(): void {
    this.#port.postMessage('failed');
  }
}

class MemorySink implements Sink {
  #pieces: Bytes[] = [];
  #length = 0;

  write(bytes: Bytes): void {
    this.#length += bytes.length;
    if (this.#length > MOST_IN_MEMORY_BYTES) throw new Unsaved('This is more than fits into memory.');
    this.#pieces.push(bytes);
  }

  restart(): void {
    this.#pieces = [];
    this.#length = 0;
  }

  async finish(): Promise<Written> {
    return { file: new Blob(this.#pieces), part: null };
  }

  abandon(): void {
    this.restart();
  }
}
