// Files of the shelf as files of this device, for ways of passing on that take nothing else.
import { problemFrom, unreachable } from '$lib/api/problems';
import { renewSession } from '$lib/api/sessionRenewal';
import { contentPath, type Entry } from './entries';

// Browsers hold them whole, and share sheets choke on many.
const [MOST_FILES, MOST_BYTES] = [25, 100_000_000];

export function canFetch(entries: readonly Entry[]): boolean {
  const bytes = entries.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0);
  return entries.every(({ kind }) => kind === 'file') && entries.length <= MOST_FILES && bytes <= MOST_BYTES;
}

export async function fetchFiles(entries: readonly Entry[]): Promise<File[]> {
  await renewSession();
  return Promise.all(entries.map(fetchFile));
}

async function fetchFile(entry: Entry): Promise<File> {
  const answer = await fetch(contentPath(entry)).catch(() => undefined);
  if (!answer) throw unreachable();
  if (!answer.ok) throw problemFrom(answer.status, answer.headers.get('content-type'), await answer.json());
  const type = entry.content_type ?? '';
  return new File([await answer.blob()], entry.name, { type, lastModified: Date.parse(entry.created_at) });
}
