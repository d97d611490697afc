// One attempt to upload a file, or the rest of it, by tus 1.0.
import { ask, http } from '$lib/api/client';
import { refused, silence, UploadFailure } from './failure';
import { Requests } from './requests';
import type { Whereto } from './resumeStore';

export type Parcel = {
  /** The idempotency key: the same for every attempt, so that a lost answer makes no second file. */
  key: string;
  file: File;
  path: string;
  whereto: Whereto;
  details: Readonly<Record<string, string>>;
  /** The upload to resume, if it was begun before. */
  uploadId: string | undefined;
  chunkBytes: number;
  /** Send with POST, where something on the way does not let PATCH through. */
  overriding: boolean;
};

export type Listener = {
  begun(uploadId: string): void;
  /** So many bytes are stored on the server. */
  stored(bytes: number): void;
  /** So many bytes are on their way or stored. */
  progress(bytes: number): void;
};

const ENDPOINT = '/api/v1/uploads';
// Small files go with their announcement: one request instead of two.
const SMALL_BYTES = 512 * 1024;

/** Send it to the end, or throw an `UploadFailure`; nothing is heard of it any more once the signal stops it. */
export async function send(parcel: Parcel, listener: Listener, signal: AbortSignal): Promise<void> {
  const { Upload } = await protocol();
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const upload = new Upload(parcel.file, {
      endpoint: ENDPOINT,
      uploadUrl: parcel.uploadId ? `${ENDPOINT}/${parcel.uploadId}` : null,
      metadata: metadataOf(parcel),
      headers: { 'Idempotency-Key': parcel.key },
      chunkSize: parcel.chunkBytes,
      overridePatchMethod: parcel.overriding,
      uploadDataDuringCreation: parcel.file.size <= SMALL_BYTES,
      // When to try again, and what to remember, is decided by the queue.
      retryDelays: null,
      storeFingerprintForResuming: false,
      httpStack: new Requests(),
      onUploadUrlAvailable: () => listener.begun(idIn(upload.url)),
      onChunkComplete: (_, bytes) => listener.stored(bytes),
      onProgress: listener.progress,
      onSuccess: () => resolve(),
      onError: (error) => reject(translated(error)),
    });
    signal.addEventListener('abort', () => {
      void upload.abort();
      reject(signal.reason as Error);
    });
    upload.start();
  });
}

export type Standing = { storedBytes: number; became: string | undefined };

/** The state of an upload on the server. Unlike the protocol's HEAD, reading it interrupts nothing. */
export async function standingOf(uploadId: string, signal?: AbortSignal): Promise<Standing> {
  const path = { upload_id: uploadId };
  const state = await ask(
    http.GET('/api/v1/uploads/{upload_id}', { params: { path }, ...(signal && { signal }) }),
  );
  return { storedBytes: state.offset_bytes, became: state.became ?? undefined };
}

/** Deletes the upload on the server. */
export async function giveUp(uploadId: string): Promise<void> {
  const params = { path: { upload_id: uploadId }, header: { 'Tus-Resumable': '1.0.0' } };
  await ask(http.DELETE('/api/v1/uploads/{upload_id}', { params }));
}

/** Loaded with the first upload, since most visits have none. */
async function protocol(): Promise<typeof import('tus-js-client')> {
  try {
    return await import('tus-js-client');
  } catch {
    throw silence(false);
  }
}

/** What an upload says of its file. */
export function metadataOf({
  file,
  path,
  whereto,
  details,
}: Pick<Parcel, 'file' | 'path' | 'whereto' | 'details'>): Record<string, string> {
  const metadata = {
    ...details,
    ...whereto,
    modified: new Date(file.lastModified).toISOString(),
    ...(['photos', 'link'].includes(whereto.destination) && {
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    }),
    filename: file.name,
    filetype: file.type,
    relativePath: path,
  };
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value));
}

/** The id in the address of an upload. */
export function idIn(url: string | null): string {
  return url?.split('/').at(-1) ?? '';
}

type Detailed = Error & {
  causingError?: unknown;
  originalRequest?: { getMethod(): string } | null;
  originalResponse?: { getUnderlyingObject(): unknown } | null;
};

/** The protocol's own errors: ours wrapped up, or a success that lacks what the protocol wants. */
function translated(error: Detailed): Error {
  if (error.causingError instanceof UploadFailure) return error.causingError;
  const answer = error.originalResponse?.getUnderlyingObject();
  return answer instanceof XMLHttpRequest ? refused(error.originalRequest?.getMethod() ?? '', answer) : error;
}
