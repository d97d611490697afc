// Turns a folder, as it travels, into an archive, as browsers can save it: chunk by chunk, nothing held.
import { concat, type Bytes } from '../crypto/bytes';
import { NotAsOffered, Tampered } from '../crypto/errors';
import type { Sum } from '../crypto/keys';
import { FolderReader } from './folders';
import type { Announced, Renamed } from './messages';
import { cleanName, keptPath, UsedPaths } from './names';
import { ZipWriter } from './zip';

// More of them tell nobody more.
const MOST_RENAMED = 100;
// The format has two bytes for the length of a path.
const MOST_PATH_LETTERS = 2 ** 14;

export class FolderArchive {
  #zip = new ZipWriter();
  #used = new UsedPaths();
  #out: Uint8Array[] = [];
  #written = { size: 0, files: 0 };
  #renamed: Renamed[] = [];
  readonly #offered: Sum;
  readonly #top: string;
  #reader = new FolderReader({
    begin: ({ path, modified, size, kind, executable }) => {
      this.#count(size, kind);
      const inside = this.#named(path);
      const whole = `${this.#top}/${kind === 'folder' ? `${inside}/` : inside}`;
      this.#out.push(this.#zip.begin(whole, modified, size, executable));
    },
    add: (bytes) => {
      this.#zip.add(bytes);
      this.#out.push(bytes);
    },
    end: () => this.#out.push(this.#zip.end()),
  });

  /** Raises as soon as more comes than was `offered`, and in the end if it was less. */
  constructor(offered: Pick<Announced, 'name' | 'size' | 'files' | 'modified'>) {
    this.#offered = offered;
    this.#top = cleanName(offered.name, 'folder');
    if (this.#top !== offered.name) this.#renamed.push({ called: offered.name, name: this.#top });
    const modified = new Date(offered.modified ?? NaN);
    this.#out.push(this.#zip.begin(`${this.#top}/`, isNaN(+modified) ? new Date() : modified, 0));
    this.#out.push(this.#zip.end());
  }

  get written(): Sum {
    return this.#written;
  }

  /** What is called otherwise in the archive. */
  get renamed(): readonly Renamed[] {
    return this.#renamed;
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

  /** Where it stands below the folder. */
  #named(path: string): string {
    if (path.length > MOST_PATH_LETTERS) throw new Tampered('A path in the folder is too long.');
    const inside = this.#used.unused(keptPath(path).join('/') || 'file');
    if (inside !== path && this.#renamed.length < MOST_RENAMED)
      this.#renamed.push({ called: path, name: inside });
    return inside;
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
