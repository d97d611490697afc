// Turns a folder, as it travels, into an archive, as browsers can save it: chunk by chunk, nothing held.
import { concat, type Bytes } from '../crypto/bytes';
import { FolderReader } from './folders';
import { cleanPath, UsedPaths } from './names';
import { ZipWriter } from './zip';

export class FolderArchive {
  #zip = new ZipWriter();
  #used = new UsedPaths();
  #out: Uint8Array[] = [];
  #reader = new FolderReader({
    begin: ({ path, modified, size, kind }) => {
      const clean = this.#used.unused(cleanPath(path).join('/') || 'file');
      this.#out.push(this.#zip.begin(kind === 'folder' ? `${clean}/` : clean, modified, size));
    },
    add: (bytes) => {
      this.#zip.add(bytes);
      this.#out.push(bytes);
    },
    end: () => this.#out.push(this.#zip.end()),
  });

  /** What comes of the next chunk. */
  feed(chunk: Bytes): Bytes {
    this.#reader.feed(chunk);
    return this.#taken();
  }

  /** What comes at the end; raises if the folder is not complete. */
  finish(): Bytes {
    this.#reader.finish();
    this.#out.push(this.#zip.finish());
    return this.#taken();
  }

  /** In one piece, since every write costs. */
  #taken(): Bytes {
    const whole = concat(...this.#out);
    this.#out = [];
    return whole;
  }
}
