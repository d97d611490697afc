// Keeps the app itself at hand, so that it opens without a connection; what people keep in it is never touched here.
/// <reference types="@sveltejs/kit" />
/// <reference lib="webworker" />
import { build, files, version } from '$service-worker';

const worker = globalThis as unknown as ServiceWorkerGlobalScope;
const CACHE = `satchel-${version}`;
const SHELL = '/';
const KEPT = new Set([SHELL, ...build, ...files]);
// The server's own pages and everything that programs and downloads ask for.
const NOT_OURS = /^\/(api|objects|assets|problems|healthz|readyz|metrics)(\/|$)/;

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

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
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
