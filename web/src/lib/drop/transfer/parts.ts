// What has arrived of a file, on the browser's private disk with a note of what it is; so a reload loses nothing.
//
// How much is there, and its digest, is read from the part itself: whatever happened to the machine meanwhile, nothing is
// taken for received that is not there.
import { toHex, type Bytes } from '../crypto/bytes';
import { CHUNK_BYTES, type Have } from '../crypto/keys';
import { ChainDigest } from '../crypto/records';
import type { Announced } from './messages';

const FOLDER = 'drop';
const AT_ONCE = 8;
const KEPT_MS = 3 * 24 * 3600 * 1000;
// A download of a finished one may still be reading it.
const FINISHED_KEPT_MS = 3600 * 1000;

/** Told apart by what the owner said of it, so that it is found again in another session as well. */
type Note = { content: string; isFinished: boolean; at: number };

/** The part of it that is on the disk from an earlier visit, or an empty one. */
export async function createPart(description: Announced): Promise<Part> {
  await sweepParts();
  const folder = await partsFolder();
  const content = contentOf(description);
  // Folders are written as archives, whose list of files is in memory only.
  if (description.kind === 'file') {
    for (const [id, note] of await notesIn(folder)) {
      const part = note.content === content && !note.isFinished ? await openPart(folder, id, note) : null;
      if (part) return part;
    }
  }
  const id = toHex(crypto.getRandomValues(new Uint8Array(8)));
  const part = await openPart(folder, id, { content, isFinished: false, at: Date.now() });
  if (!part) throw new DOMException('Somebody else has this part.', 'NoModificationAllowedError');
  return part;
}

/** Removes what nobody will come back for; what is in use stays. */
export async function sweepParts(now = Date.now()): Promise<void> {
  const folder = await partsFolder();
  const notes = await notesIn(folder);
  for await (const name of folder.keys()) {
    const note = notes.get(name.split('.')[0] ?? '');
    if (!note || now - note.at > (note.isFinished ? FINISHED_KEPT_MS : KEPT_MS)) await removed(folder, name);
  }
}

export async function removePart(id: string): Promise<void> {
  const folder = await partsFolder();
  await removed(folder, `${id}.part`);
  await removed(folder, `${id}.json`);
}

export class Part {
  readonly id: string;
  readonly #note: Note;
  readonly #handle: FileSystemFileHandle;
  readonly #file: FileSystemSyncAccessHandle;
  readonly #notes: FileSystemSyncAccessHandle;
  #length = 0;

  constructor(
    id: string,
    note: Note,
    handle: FileSystemFileHandle,
    file: FileSystemSyncAccessHandle,
    notes: FileSystemSyncAccessHandle,
  ) {
    this.id = id;
    this.#note = note;
    this.#handle = handle;
    this.#file = file;
    this.#notes = notes;
    this.#write({ ...note, at: Date.now() });
  }

  /** The whole chunks that are there; what is behind them goes. */
  async recount(digestKey: CryptoKey): Promise<Have | null> {
    const chunks = Math.floor(this.#file.getSize() / CHUNK_BYTES);
    this.#length = chunks * CHUNK_BYTES;
    this.#file.truncate(this.#length);
    if (!chunks) return null;
    const chain = new ChainDigest(digestKey);
    while (chain.chunks < chunks) {
      const chunk = new Uint8Array(CHUNK_BYTES);
      this.#file.read(chunk, { at: chain.chunks * CHUNK_BYTES });
      const added = chain.add(chunk);
      // A few under way keep the disk and the processor busy; all of them would fill memory.
      if (chain.chunks % AT_ONCE === 0) await added;
    }
    return { chunk: CHUNK_BYTES, chunks, digest: await chain.value };
  }

  append(bytes: Bytes): void {
    const written = this.#file.write(bytes, { at: this.#length });
    this.#length += written;
    if (written < bytes.length) throw new DOMException('The disk is full.', 'QuotaExceededError');
  }

  restart(): void {
    this.#length = 0;
    this.#file.truncate(0);
  }

  async finish(): Promise<File> {
    this.#write({ ...this.#note, isFinished: true, at: Date.now() });
    this.close();
    return this.#handle.getFile();
  }

  close(): void {
    this.#file.close();
    this.#notes.close();
  }

  async remove(): Promise<void> {
    this.close();
    await removePart(this.id);
  }

  #write(note: Note): void {
    const bytes = new TextEncoder().encode(JSON.stringify(note));
    this.#notes.truncate(0);
    this.#notes.write(bytes, { at: 0 });
  }
}

async function partsFolder(): Promise<FileSystemDirectoryHandle> {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(FOLDER, { create: true });
}

/** Null if another tab is writing it. */
async function openPart(folder: FileSystemDirectoryHandle, id: string, note: Note): Promise<Part | null> {
  const notes = await locked(await folder.getFileHandle(`${id}.json`, { create: true }));
  if (!notes) return null;
  const handle = await folder.getFileHandle(`${id}.part`, { create: true });
  const file = await locked(handle);
  if (file) return new Part(id, note, handle, file, notes);
  notes.close();
  return null;
}

async function locked(handle: FileSystemFileHandle): Promise<FileSystemSyncAccessHandle | null> {
  try {
    return await handle.createSyncAccessHandle();
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === 'NoModificationAllowedError') return null;
    throw failure;
  }
}

async function notesIn(folder: FileSystemDirectoryHandle): Promise<Map<string, Note>> {
  const notes = new Map<string, Note>();
  for await (const [name, handle] of folder.entries()) {
    if (handle.kind !== 'file' || !name.endsWith('.json')) continue;
    const note = await readNote(handle as FileSystemFileHandle);
    if (note) notes.set(name.slice(0, -'.json'.length), note);
  }
  return notes;
}

async function readNote(handle: FileSystemFileHandle): Promise<Note | null> {
  try {
    return JSON.parse(await (await handle.getFile()).text()) as Note;
  } catch {
    // Cut off while it was written, or just being written.
    return null;
  }
}

async function removed(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  try {
    await folder.removeEntry(name);
  } catch (failure) {
    const isHarmless = failure instanceof DOMException;
    // In use by another tab, or gone already.
    if (!isHarmless) throw failure;
  }
}

function contentOf({ name, size, modified }: Announced): string {
  return JSON.stringify([name, size, modified]);
}
