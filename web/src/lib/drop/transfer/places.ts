// Decides, on the page, where what arrives is put, and hands over to the browser what the worker could not put there itself.
import type { Announced, FromWorker, Place } from './messages';
import { cleanName } from './names';
import { removePart, sweepParts } from './parts';
import { openDownload } from './downloads';

/** A place, and what is to be tidied once the transfer is over; or why there is none. */
export type Placed = { place: Place; release: () => void } | 'cancelled' | 'nowhere';

const MOST_IN_MEMORY_BYTES = 256 * 2 ** 20;
// What the browser itself needs beside the file.
const SPARE_BYTES = 64 * 2 ** 20;
// Nobody says when a download has been copied out; so long it takes at most on a slow disk.
const COPIED_BYTES_PER_MS = 10_000;
const COPY_AT_LEAST_MS = 60_000;

/** Straight to the disk if one may ask where, else by way of the browser's own, a download, memory. */
export async function choosePlace(description: Announced, ask: boolean): Promise<Placed> {
  const { kind, size } = description;
  if (kind === 'text') return just({ kind: 'memory' });
  const picked = ask ? await pick(fileName(description)) : null;
  if (picked) return picked;
  if (await hasPrivateRoom(size)) return just({ kind: 'private' });
  const download = openDownload(fileName(description), kind === 'file' ? size : null);
  if (download) return download;
  return size !== null && size <= MOST_IN_MEMORY_BYTES ? just({ kind: 'memory' }) : 'nowhere';
}

/** Puts what was written where people find it. */
export function hand({ file, part }: FromWorker & { kind: 'written' }, description: Announced): void {
  if (!file) return;
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName(description);
  link.click();
  setTimeout(
    () => {
      URL.revokeObjectURL(address);
      if (part) void removePart(part);
    },
    Math.max(COPY_AT_LEAST_MS, file.size / COPIED_BYTES_PER_MS),
  );
}

/** What earlier visits have left on the browser's private disk and nobody comes back for. */
export async function cleanUp(): Promise<void> {
  if (await hasPrivateDisk()) await sweepParts();
}

export function fileName({ kind, name }: Announced): string {
  return kind === 'folder' ? `${cleanName(name, 'folder')}.zip` : cleanName(name);
}

function just(place: Place): Placed {
  return { place, release: () => undefined };
}

type Picker = (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;

async function pick(suggestedName: string): Promise<Placed | null> {
  const picker = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  if (!picker) return null;
  try {
    return just({ kind: 'picked', handle: await picker({ suggestedName }) });
  } catch (failure) {
    // Any other: the click was too long ago, or the browser may not ask here.
    if (failure instanceof DOMException && failure.name === 'AbortError') return 'cancelled';
    return null;
  }
}

async function hasPrivateRoom(size: number | null): Promise<boolean> {
  if (!(await hasPrivateDisk())) return false;
  const { quota = 0, usage = 0 } = await navigator.storage.estimate();
  return quota - usage > (size ?? 0) + SPARE_BYTES;
}

/** Some browsers have none in private windows. Whoever has one, and can compute keys, can write to it in workers. */
async function hasPrivateDisk(): Promise<boolean> {
  // None at all over plain http.
  if (!('storage' in navigator && 'getDirectory' in navigator.storage)) return false;
  return navigator.storage.getDirectory().then(
    () => true,
    () => false,
  );
}
