// Keeps the app itself at hand, so that it opens without a connection; what people keep in it is never touched here.
/// <reference types="@sveltejs/kit" />
/// <reference lib="webworker" />
import { build, files, version } from '$service-worker';
import { answerDownload, heardOffer, isDownload } from '$lib/drop/transfer/serviceWorker';

const worker = globalThis as unknown as ServiceWorkerGlobalScope;
const CACHE = `satchel-${version}`;
const SHELL = '/';
const KEPT = new Set([SHELL, ...build, ...files]);
// The server's own pages and everything that programs and downloads ask for.
const NOT_OURS = /^\/(api|objects|assets|problems|healthz|readyz|metrics)(\/|$)/;
// What browsers send at once at most.
const SEGMENT_BYTES = 8 * 2 ** 20;

worker.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll([...KEPT]))
      .then(() => worker.skipWaiting()),
  );
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))))
      .then(() => worker.clients.claim()),
  );
});

// What a page receives sealed can be saved only as something that the browser downloads.
worker.addEventListener('message', heardOffer);

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method === 'PUT') weigh();
  const url = new URL(request.url);
  if (url.origin === worker.location.origin && isDownload(url)) {
    event.respondWith(answerDownload(url));
    return;
  }
  if (request.method !== 'GET' || url.origin !== worker.location.origin || NOT_OURS.test(url.pathname))
    return;
  if (request.mode === 'navigate') event.respondWith(freshOrKept(request));
  else if (KEPT.has(url.pathname)) event.respondWith(kept(request));
});

/** The page as the server has it now, or the one that we have when there is no way to the server. */
async function freshOrKept(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (failure) {
    const shell = await caches.match(SHELL);
    if (shell) return shell;
    throw failure;
  }
}

async function kept(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}

/**
 * Chromium holds each body that passes by until the garbage of this worker is collected, of which it sees none: a large
 * file would fill the memory. So each leaves something behind that weighs as much in its eyes, and takes no room.
 */
function weigh(): void {
  Reflect.set(worker, 'weight', new ArrayBuffer(SEGMENT_BYTES));
}
