// Turns a folder, as it travels, into an archive, as browsers can save it: chunk by chunk, nothing held.
import { concat, type Bytes } from '../crypto/bytes';
import { NotAsOffered } from '../crypto/errors';
import type { Sum } from '../crypto/keys';
import { FolderReader } from './folders';
import { cleanPath, UsedPaths } from './names';
import { ZipWriter } from './zip';

export class FolderArchive {
  #zip = new ZipWriter();
  #used = new UsedPaths();
  #out: Uint8Array[] = [];
  #written = { size: 0, files: 0 };
  readonly #offered: Sum;
  #reader = new FolderReader({
    begin: ({ path, modified, size, kind }) => {
      this.#count(size, kind);
      const clean = this.#used.unused(cleanPath(path).join('/') || 'file');
      this.#out.push(this.#zip.begin(kind === 'folder' ? `${clean}/` : clean, modified, size));
    },
    add: (bytes) => {
      this.#zip.add(bytes);
      this.#out.push(bytes);
    },
    end: () => this.#out.push(this.#zip.end()),
  });

  /** Raises as soon as more comes than was `offered`, and in the end if it was less. */
  constructor(offered: Sum) {
    this.#offered = offered;
  }

  get written(): Sum {
    return this.#written;
  }

  /** What comes of the next chunk. */
  feed(chunk: Bytes): Bytes {
    this.#reader.feed(chunk);
    return this.#taken();
  }

  /** What comes at the end; raises if the folder is not complete. */
  finish(): Bytes {
    this.#reader.finish();
    const { size, files } = this.#offered;
    if (size !== null && (this.#written.size !== size || this.#written.files !== files))
      throw new NotAsOffered('The folder has less in it than was announced.');
    this.#out.push(this.#zip.finish());
    return this.#taken();
  }

  #count(bytes: number, kind: 'file' | 'folder'): void {
    this.#written = {
      size: this.#written.size + bytes,
      files: this.#written.files + (kind === 'file' ? 1 : 0),
    };
    const { size, files } = this.#offered;
    if (size !== null && (this.#written.size > size || this.#written.files > files))
      throw new NotAsOffered('The folder has more in it than was announced.');
  }

  /** In one piece, since every write costs. */
  #taken(): Bytes {
    const whole = concat(...this.#out);
    this.#out = [];
    return whole;
  }
}
