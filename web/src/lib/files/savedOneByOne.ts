// Saves several files of a phone as the files that they are: nobody opens an archive there.
import { Problem, problemFrom, unreachable } from '$lib/api/problems';
import { t } from '$lib/i18n/index.svelte';
import { saveEach, saveFrom } from '$lib/shell/browserDownload';
import { act } from '$lib/shell/action';
import { canDrag } from '$lib/ui/pointer';
import { toasts } from '$lib/ui/toasts.svelte';
import { contentPath, type Entry } from './entries';

export type Saved = { address: string; name?: string; type: string; size?: number };

// Share sheets choke on more, and browsers hold what they share.
const [MOST_FILES, MOST_SHARED_BYTES] = [25, 100_000_000];
const PAUSE_MS = 700;

/** Whether so many are saved one by one, and not as an archive. */
export function isOneByOne(count: number): boolean {
  return count > 1 && count <= MOST_FILES && !canDrag.current;
}

export function savedOf(file: Entry): Saved {
  const { name, content_type, size_bytes } = file;
  return { address: contentPath(file), name, type: content_type ?? '', size: size_bytes ?? 0 };
}

/** One after the other; photos of an iPhone by its own sheet, from where they go into the library in one act. */
export async function saveOneByOne(files: readonly Saved[]): Promise<void> {
  if (!isForLibrary(files)) return saveEach(files.map(({ address }) => address));
  const fetched = await Promise.all(files.map((file) => fetchOne(file)));
  // The sheet opens only right after a touch, so there is something to touch.
  toasts.good(t('files.ready', { count: fetched.length }), {
    label: t('files.toPhone'),
    run: () => act(() => toPhone(fetched)),
  });
}

/** What is in memory already. */
export async function saveBytesOneByOne(files: readonly { name: string; bytes: Blob }[]): Promise<void> {
  for (const [at, { name, bytes }] of files.entries()) {
    if (at) await new Promise((wake) => setTimeout(wake, PAUSE_MS));
    saveBytes(bytes, name);
  }
}

export function saveBytes(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  saveFrom(address, name);
  // Not at once: the browser may still be asking where to put it.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function isForLibrary(files: readonly Saved[]): boolean {
  const bytes = files.reduce((sum, { size }) => sum + (size ?? 0), 0);
  const isMedia = files.every(({ type }) => /^(image|video)\//.test(type));
  return (
    isMedia && bytes <= MOST_SHARED_BYTES && navigator.vendor.startsWith('Apple') && 'canShare' in navigator
  );
}

/** As a file of this device, under the name that the server says; `file-too-large` before any of it is read. */
export async function fetchOne(
  { address, name, type }: Saved,
  { signal = null, mostBytes = Infinity }: { signal?: AbortSignal | null; mostBytes?: number } = {},
): Promise<File> {
  const answer = await fetch(address, { signal }).catch(() => undefined);
  if (!answer) throw unreachable();
  if (!answer.ok) throw problemFrom(answer.status, answer.headers.get('content-type'), await answer.json());
  if (Number(answer.headers.get('content-length')) > mostBytes) {
    await answer.body?.cancel();
    throw new Problem('file-too-large', 0, t('share.dropTooLarge'));
  }
  const called = name ?? nameIn(answer.headers.get('content-disposition')) ?? 'photo';
  const bytes = await answer.blob().catch(() => undefined);
  if (!bytes) throw unreachable();
  return new File([bytes], called, { type: answer.headers.get('content-type') ?? type });
}

function nameIn(disposition: string | null): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  return encoded === undefined
    ? /filename="([^"]+)"/.exec(disposition ?? '')?.[1]
    : decodeURIComponent(encoded);
}

async function toPhone(files: File[]): Promise<void> {
  try {
    // Nothing beside the files, or the sheet does not offer to keep them.
    await navigator.share({ files });
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === 'AbortError') return;
    await saveBytesOneByOne(files.map((file) => ({ name: file.name, bytes: file })));
  }
}
