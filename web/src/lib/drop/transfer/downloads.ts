// Lets the browser download, under a name and to where its downloads go, bytes that are made on this page: an address
// that the service worker answers with whatever comes through a port.
import type { Place } from './messages';

/** What a page asks of the service worker. */
export type DownloadOffer = { kind: 'drop.download'; id: string; name: string; size: number | null };
/** Through the port: `more` is asked for by the download, `gone` says that it was cancelled. */
export type FromDownload = 'more' | 'gone';
export type ToDownload = Uint8Array<ArrayBuffer> | 'end' | 'failed';

export const DOWNLOADS = '/drop-download/';
// Browsers end a service worker that hears nothing for half a minute.
const AWAKE_EVERY_MS = 10_000;

/** Null if no service worker is there to answer. */
export function openDownload(
  name: string,
  size: number | null,
): { place: Place; release: () => void } | null {
  const worker = navigator.serviceWorker?.controller;
  if (!worker) return null;
  const { port1, port2 } = new MessageChannel();
  const id = crypto.randomUUID();
  worker.postMessage({ kind: 'drop.download', id, name, size } satisfies DownloadOffer, [port2]);
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.src = DOWNLOADS + id;
  document.body.append(frame);
  const awake = setInterval(() => worker.postMessage({ kind: 'drop.awake' }), AWAKE_EVERY_MS);
  const release = (): void => {
    clearInterval(awake);
    frame.remove();
  };
  return { place: { kind: 'download', port: port1 }, release };
}
