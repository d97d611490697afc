// Keeps the visited parts of the app, so that they open without a connection, and answers with what people asked to keep offline.
/// <reference types="@sveltejs/kit" />
/// <reference lib="webworker" />
import { build, files, version } from '$service-worker';
import { answerDownload, heardOffer, isDownload } from '$lib/drop/transfer/serviceWorker';
import { hearNotices } from '$lib/shell/noticeWorker';
import { freshOrOffline, isOfflineCache, KEEP_APP, mayBeKept } from '$lib/shell/offlineCache';
import { receiveShared, SHARE_TARGET, SHARED_CACHE } from '$lib/shell/sharedThings';

const worker = globalThis as unknown as ServiceWorkerGlobalScope;
const CACHE = `satchel-${version}`;
const SHELL = '/';
const PARTS = new Set([...build, ...files]);
// The server's own pages and everything that programs and downloads ask for.
const NOT_OURS = /^\/(api|objects|assets|problems|healthz|readyz|metrics)(\/|$)/;
// What browsers send at once at most.
const SEGMENT_BYTES = 8 * 2 ** 20;

worker.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.add(SHELL))
      .then(keepAppIfNeeded)
      .then(() => worker.skipWaiting()),
  );
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOutdated).map((name) => caches.delete(name))))
      .then(() => worker.clients.claim()),
  );
});

// What a page receives sealed can be saved only as something that the browser downloads.
worker.addEventListener('message', heardOffer);
worker.addEventListener('message', (event) => {
  const [port] = event.ports;
  if ((event.data as { kind?: string }).kind !== KEEP_APP || !port) return;
  event.waitUntil(
    keepApp().then(
      () => port.postMessage(true),
      () => port.postMessage(false),
    ),
  );
});

hearNotices(worker);

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method === 'PUT') weigh();
  const url = new URL(request.url);
  if (url.origin === worker.location.origin && isDownload(url)) {
    event.respondWith(answerDownload(url));
    return;
  }
  if (request.method === 'POST' && url.origin === worker.location.origin && url.pathname === SHARE_TARGET) {
    event.respondWith(receiveShared(request));
    return;
  }
  if (request.method !== 'GET' || url.origin !== worker.location.origin) return;
  if (request.mode !== 'navigate' && mayBeKept(request)) event.respondWith(freshOrOffline(request));
  if (NOT_OURS.test(url.pathname)) return;
  if (request.mode === 'navigate') event.respondWith(freshOrKept(request));
  else if (PARTS.has(url.pathname)) event.respondWith(keptOrFetched(event));
});

function isOutdated(name: string): boolean {
  return name !== CACHE && name !== SHARED_CACHE && !isOfflineCache(name);
}

/** Whoever plays from what is kept here must find a new version of the app complete. */
async function keepAppIfNeeded(): Promise<void> {
  if ((await caches.keys()).some(isOfflineCache)) await keepApp();
}

/** Every part of the app, visited or not. */
async function keepApp(): Promise<void> {
  const cache = await caches.open(CACHE);
  const kept = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  await cache.addAll([SHELL, ...PARTS].filter((path) => !kept.has(path)));
}

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

/** A part is kept when a page first asks for it: nobody loads what they never visit. */
async function keptOrFetched(event: FetchEvent): Promise<Response> {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(event.request);
  if (kept) return kept;
  const fetched = await fetch(event.request);
  if (fetched.ok) event.waitUntil(cache.put(event.request, fetched.clone()));
  return fetched;
}

/**
 * Chromium holds each body that passes by until the garbage of this worker is collected, of which it sees none: a large
 * file would fill the memory. So each leaves something behind that weighs as much in its eyes, and takes no room.
 */
function weigh(): void {
  Reflect.set(worker, 'weight', new ArrayBuffer(SEGMENT_BYTES));
}
