// Many small files in one request: what an upload costs on its own, a bundle costs once.
import type { HttpResponse } from 'tus-js-client';
import { refused, refusedFile, type UploadFailure } from './failure';
import { Requests } from './requests';
import { metadataOf, type Parcel } from './tusUpload';

/** What is sent of each file of a bundle. */
export type Bundled = Pick<Parcel, 'key' | 'file' | 'path' | 'whereto' | 'details'>;
type Told = {
  files: { became: string | null; problem: { type: string; status: number; detail: string } | null }[];
};

const ENDPOINT = '/api/v1/uploads/bundle';
const CONTENT_TYPE = 'application/vnd.satchel.bundle';
// The server takes more; a slow line that breaks off loses no more than this.
const MOST_BYTES = 2 * 1024 ** 2;
const MOST_FILES = 256;
const LARGEST_FILE_BYTES = 256 * 1024;
const TAKING = new Set(['shelf', 'photos']);

/** Whether it can go with others. */
export function fitsBundle({ file, whereto }: Pick<Parcel, 'file' | 'whereto'>): boolean {
  return file.size <= LARGEST_FILE_BYTES && TAKING.has(whereto.destination);
}

/** As many from the beginning as go with the first: to the same kind of place, within the limits of a bundle. */
export function firstLot<Item extends Pick<Parcel, 'file' | 'whereto'>>(items: readonly Item[]): Item[] {
  const lot: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (lot.length === MOST_FILES || bytes + item.file.size > MOST_BYTES) break;
    if (item.whereto.destination !== items[0]?.whereto.destination) continue;
    lot.push(item);
    bytes += item.file.size;
  }
  return lot;
}

/** Send them; for each what it became, or why it was refused. Throws when nobody knows what became of them. */
export async function sendBundle(
  lot: readonly Bundled[],
  told: (bytes: number) => void,
  signal: AbortSignal,
): Promise<(string | UploadFailure)[]> {
  const files = lot.map((each) => {
    const { filename = '', filetype = '', ...details } = metadataOf(each);
    return { size_bytes: each.file.size, filename, filetype, details, key: each.key };
  });
  const destination = lot[0]?.whereto.destination;
  const first = new Blob([JSON.stringify({ destination, files }), '\n']);
  const request = new Requests().createRequest('POST', ENDPOINT);
  request.setHeader('Content-Type', CONTENT_TYPE);
  request.setProgressHandler((bytes) => told(bytes - first.size));
  signal.addEventListener('abort', () => void request.abort());
  const answer = await request.send(new Blob([first, ...lot.map(({ file }) => file)]));
  const outcome = read(answer);
  return lot.map((_, index) => {
    const { became, problem } = outcome.files[index] ?? { became: null, problem: null };
    return became ?? refusedFile(problem);
  });
}

/** Something on the way may answer in the place of the server. */
function read(answer: HttpResponse): Told {
  try {
    return JSON.parse(answer.getBody()) as Told;
  } catch {
    throw refused('POST', answer.getUnderlyingObject() as XMLHttpRequest);
  }
}
