// Fetches and hashes in a worker, so that a large file does not block the page.
import { Sha256 } from '$lib/api/sha256';
import { crc32 } from './crc32';

/** Bytes from an address of the server, or a file of the device; and the challenge that they are to answer. */
export type Task = ({ url: string } | { file: Blob }) & { challenge: string };
export type News =
  | { kind: 'progress'; bytes: number }
  | { kind: 'done'; bytes: Blob; sha256: string; proof: string; crc32: number }
  | { kind: 'refused'; status: number; contentType: string | null; body: unknown }
  | { kind: 'broken' };

const TOLD_EVERY_MS = 100;
// Browsers put a large blob on the disk, but not the pieces that are still to become one.
const FOLDED_AT_BYTES = 16 * 2 ** 20;
const MOST_ATTEMPTS_IN_VAIN = 4;
const WAIT_MS = 1500;

class Taking {
  length = 0;
  #hash = new Sha256();
  #proof = new Sha256();
  #crc32 = 0;
  #blobs: Blob[] = [];
  #pieces: BlobPart[] = [];
  #unfolded = 0;
  #toldAt = 0;

  constructor(challenge: string) {
    this.#proof.update(bytesOf(challenge));
  }

  /** `keep` what comes, unless it is on the device anyway. */
  async drain(stream: ReadableStream<Uint8Array<ArrayBuffer>>, keep: boolean): Promise<void> {
    const reader = stream.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      this.#hash.update(read.value);
      this.#proof.update(read.value);
      this.#crc32 = crc32(read.value, this.#crc32);
      this.length += read.value.length;
      if (keep) this.#keep(read.value);
      this.#tell();
    }
  }

  result(): News {
    const bytes = new Blob([...this.#blobs, ...this.#pieces]);
    return { kind: 'done', bytes, sha256: this.#hash.hex(), proof: this.#proof.hex(), crc32: this.#crc32 };
  }

  #keep(piece: Uint8Array<ArrayBuffer>): void {
    this.#pieces.push(piece);
    this.#unfolded += piece.length;
    if (this.#unfolded < FOLDED_AT_BYTES) return;
    this.#blobs.push(new Blob(this.#pieces));
    this.#pieces = [];
    this.#unfolded = 0;
  }

  #tell(): void {
    if (performance.now() - this.#toldAt < TOLD_EVERY_MS) return;
    this.#toldAt = performance.now();
    tell({ kind: 'progress', bytes: this.length });
  }
}

/** Resumes a broken download with a range request; gives up after several attempts without a byte. */
async function fetched(url: string, challenge: string): Promise<News> {
  let taking = new Taking(challenge);
  for (let inVain = 0; inVain < MOST_ATTEMPTS_IN_VAIN; inVain++) {
    const before = taking.length;
    try {
      const answer = await fetch(url, before ? { headers: { Range: `bytes=${before}-` } } : {});
      if (!answer.ok || !answer.body) return await refused(answer);
      // Something on the way does not know ranges: from the beginning, then.
      if (before && answer.status !== 206) taking = new Taking(challenge);
      await taking.drain(answer.body, true);
      return taking.result();
    } catch {
      if (taking.length > before) inVain = -1;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }
  return { kind: 'broken' };
}

async function refused(answer: Response): Promise<News> {
  const body: unknown = await answer.json().catch(() => ({}));
  return { kind: 'refused', status: answer.status, contentType: answer.headers.get('content-type'), body };
}

async function hashed(file: Blob, challenge: string): Promise<News> {
  const taking = new Taking(challenge);
  try {
    await taking.drain(file.stream(), false);
    return taking.result();
  } catch {
    return { kind: 'broken' };
  }
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function tell(news: News): void {
  postMessage(news);
}

addEventListener('message', async ({ data }: MessageEvent<Task>) => {
  tell(await ('url' in data ? fetched(data.url, data.challenge) : hashed(data.file, data.challenge)));
});
