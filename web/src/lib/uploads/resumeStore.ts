// Stores which uploads are unfinished, so that they can be resumed after the page was closed.
import type { Picked } from '$lib/files/pickedFiles';

/** What is needed to resume: the upload's id on the server, and which file it was. */
export type Remembered = {
  fingerprint: string;
  owner: string;
  place: string;
  uploadId: string;
  name: string;
  sizeBytes: number;
  since: string;
};

/**
 * Where an upload goes: a folder of the shelf; a room, there to everybody or to one person; or by a link to whoever asks for
 * it, with the pass that was given for the link, and the name of whoever sends it.
 */
export type Whereto = {
  destination: string;
  folder?: string;
  room?: string;
  to?: string;
  link?: string;
  pass?: string;
  uploader?: string;
  /** The album that a photo is to stay in. */
  album?: string;
  /** The score whose pages it is to become. */
  score?: string;
};

/** The part of `Storage` that is needed. */
export type BrowserStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

const PREFIX = 'upload:';
export const TOP = 'root';
/** Whose uploads those are that come from nobody known. */
export const STRANGER = 'stranger';

/** One text for where an upload goes. */
export function placeOf({ destination, folder, room, to, link, album, score }: Whereto): string {
  return [destination, folder === TOP ? '' : folder, room, to, link, album, score].filter(Boolean).join('/');
}

/**
 * The same for the same file, in this place, by this person; another as soon as the file has changed, or is to replace
 * something else: the server was told that when the upload began.
 */
export function fingerprintOf(owner: string, place: string, { file, path, details = {} }: Picked): string {
  const replaced = [details.replaces, details.replacedSha256].filter((each) => each !== undefined);
  return JSON.stringify([owner, place, path || file.name, file.size, file.lastModified, ...replaced]);
}

export class ResumeStore {
  #storage: BrowserStorage | undefined;

  /** Without storage (people can switch it off) nothing outlives the page, and everything else works. */
  constructor(storage: BrowserStorage | undefined) {
    this.#storage = storage;
  }

  keep(upload: Remembered): void {
    try {
      this.#storage?.setItem(PREFIX + upload.fingerprint, JSON.stringify(upload));
    } catch {
      // No room left: this one starts from the beginning after a reload.
    }
  }

  find(fingerprint: string): Remembered | undefined {
    return read(this.#storage?.getItem(PREFIX + fingerprint));
  }

  forget(fingerprint: string): void {
    this.#storage?.removeItem(PREFIX + fingerprint);
  }

  /** Those of one person for one place, newest first. */
  unfinished(owner: string, place: string): Remembered[] {
    const found: Remembered[] = [];
    for (let index = 0; index < (this.#storage?.length ?? 0); index++) {
      const key = this.#storage?.key(index);
      const upload = key?.startsWith(PREFIX) ? read(this.#storage?.getItem(key)) : undefined;
      if (upload?.owner === owner && upload.place === place) found.push(upload);
    }
    return found.sort((one, other) => other.since.localeCompare(one.since));
  }
}

function read(text: string | null | undefined): Remembered | undefined {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return isRemembered(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Other versions of the app, and other people, write into the same storage. */
function isRemembered(value: unknown): value is Remembered {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  const texts = ['fingerprint', 'owner', 'place', 'uploadId', 'name', 'since'];
  return texts.every((name) => typeof fields[name] === 'string') && typeof fields.sizeBytes === 'number';
}
