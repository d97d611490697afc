// The service worker's half of downloads whose bytes a page makes.
import { Deferred } from './deferred';
import { DOWNLOADS, type DownloadOffer, type FromDownload, type ToDownload } from './downloads';

type Offered = { offer: DownloadOffer; port: MessagePort };

const OFFER_TIMEOUT_MS = 10_000;
const offers = new Map<string, Deferred<Offered>>();

export function isDownload({ pathname }: URL): boolean {
  return pathname.startsWith(DOWNLOADS);
}

export function heardOffer({ data, ports }: ExtendableMessageEvent): void {
  const offer = data as DownloadOffer;
  const [port] = ports;
  if (offer.kind === 'drop.download' && port) offerOf(offer.id).resolve({ offer, port });
}

/** The download and what it is made of are told separately, in any order. */
export async function answerDownload(url: URL): Promise<Response> {
  const id = url.pathname.slice(DOWNLOADS.length);
  const late = setTimeout(() => offerOf(id).reject(new Error('Nobody offers this.')), OFFER_TIMEOUT_MS);
  try {
    const { offer, port } = await offerOf(id).promise;
    return new Response(streamFrom(port), { headers: headersFor(offer) });
  } catch {
    return new Response(null, { status: 404 });
  } finally {
    clearTimeout(late);
    offers.delete(id);
  }
}

function offerOf(id: string): Deferred<Offered> {
  const offer = offers.get(id) ?? new Deferred<Offered>();
  offers.set(id, offer);
  return offer;
}

function streamFrom(port: MessagePort): ReadableStream<Uint8Array<ArrayBuffer>> {
  const say = (what: FromDownload): void => port.postMessage(what);
  return new ReadableStream({
    start(controller) {
      port.onmessage = ({ data }: MessageEvent<ToDownload>) => {
        if (data === 'end') controller.close();
        else if (data === 'failed') controller.error(new Error('It was not received.'));
        else controller.enqueue(data);
      };
    },
    pull: () => say('more'),
    cancel: () => say('gone'),
  });
}

function headersFor({ name, size }: DownloadOffer): Record<string, string> {
  // Whatever it is, it is saved, and never shown with the rights of this site.
  return {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, escaped)}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    ...(size === null ? {} : { 'content-length': String(size) }),
  };
}

function escaped(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
}
