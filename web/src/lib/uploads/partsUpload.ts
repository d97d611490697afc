// Sends large files in parts by signed links, past the server: straight to the bucket, where it has one.
import type { HttpRequest, HttpResponse } from 'tus-js-client';
import { ask, http } from '$lib/api/client';
import { silence, UploadFailure } from './failure';
import { Requests } from './requests';
import { idIn, type Listener, metadataOf, type Parcel, send } from './tusUpload';

// Smaller files are not worth the question whether the server signs links.
const LARGE_BYTES = 8 * 1024 ** 2;
const ENDPOINT = '/api/v1/uploads';
// After so many failures in a row, the bucket does not let this page send, or cannot be reached from here.
const FAILURES_BELIEVED = 3;

let failures = 0;
/** What has been sent and could not be reported, by the upload. */
const unreported = new Map<string, number[]>();

type Part = { number: number; start: number; size_bytes: number; url: string };

/** Send a file to the end, or throw an `UploadFailure`: in parts if it is large and the server signs links. */
export async function sendFile(parcel: Parcel, listener: Listener, signal: AbortSignal): Promise<void> {
  const { file, overriding } = parcel;
  if (
    file.size <= LARGE_BYTES ||
    overriding ||
    failures >= FAILURES_BELIEVED ||
    file.size <= (await smallest())
  )
    return send(parcel, listener, signal);
  const uploadId = parcel.uploadId ?? (await begin(parcel, signal));
  listener.begun(uploadId);
  if (await sendParts(uploadId, file, listener, signal)) return;
  return send({ ...parcel, uploadId }, listener, signal);
}

let asked: Promise<number> | undefined;

/** Only larger files go in parts. */
function smallest(): Promise<number> {
  asked ??= fetch(ENDPOINT, { method: 'OPTIONS' })
    .then(({ headers }) => Number(headers.get('Satchel-Signed-Parts') ?? Infinity))
    .catch(() => {
      asked = undefined;
      return Infinity;
    });
  return asked;
}

/** Whether all of it is there; else the rest is to be sent to the server. */
async function sendParts(
  uploadId: string,
  file: File,
  listener: Listener,
  signal: AbortSignal,
): Promise<boolean> {
  while (failures < FAILURES_BELIEVED) {
    const sent = unreported.get(uploadId) ?? [];
    const path = { upload_id: uploadId };
    const answer = await ask(
      http.POST('/api/v1/uploads/{upload_id}/parts', { params: { path }, body: { sent }, signal }),
    );
    unreported.delete(uploadId);
    listener.progress(answer.offset_bytes);
    listener.stored(answer.offset_bytes);
    if (answer.offset_bytes === file.size) return true;
    if (!answer.parts.length) return false;
    for (const part of answer.parts) {
      await put(part, file, listener, signal);
      unreported.set(uploadId, [...(unreported.get(uploadId) ?? []), part.number]);
    }
  }
  return false;
}

async function put(part: Part, file: File, listener: Listener, signal: AbortSignal): Promise<void> {
  const request = new Requests().createRequest('PUT', part.url);
  request.setProgressHandler((bytes) => listener.progress(part.start + bytes));
  try {
    await sent(request, file.slice(part.start, part.start + part.size_bytes), signal);
    failures = 0;
  } catch (failure) {
    if (signal.aborted || (failure instanceof UploadFailure && failure.trouble.kind === 'unreadable'))
      throw failure;
    failures += 1;
    // Whatever the bucket says: a new link may help, and after some failures the server takes the bytes.
    throw silence(false);
  }
}

/** The id of a new upload. Asked again with the same key, it is the same. */
async function begin(parcel: Parcel, signal: AbortSignal): Promise<string> {
  const request = new Requests().createRequest('POST', ENDPOINT);
  request.setHeader('Tus-Resumable', '1.0.0');
  request.setHeader('Upload-Length', String(parcel.file.size));
  request.setHeader('Upload-Metadata', written(metadataOf(parcel)));
  request.setHeader('Idempotency-Key', parcel.key);
  return idIn((await sent(request, null, signal)).getHeader('Location') ?? '');
}

/** The answer. Nothing is heard of a request that was stopped. */
async function sent(request: HttpRequest, body: Blob | null, signal: AbortSignal): Promise<HttpResponse> {
  signal.throwIfAborted();
  const over = new AbortController();
  try {
    return await new Promise((resolve, reject) => {
      const stop = (): void => {
        void request.abort();
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', stop, { signal: over.signal });
      request.send(body).then(resolve, reject);
    });
  } finally {
    over.abort();
  }
}

function written(metadata: Record<string, string>): string {
  const pairs = Object.entries(metadata).map(([name, value]) => {
    const bytes = Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte));
    return `${name} ${btoa(bytes.join(''))}`;
  });
  return pairs.join(',');
}
