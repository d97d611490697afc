// What the service worker does of notices: it shows them while nobody looks at any page, and leads whoever presses one.
/// <reference lib="webworker" />

const [SHOW, LEAD] = ['show notice', 'lead to'];
// A page that listens answers at once.
const ANSWERED_WITHIN_MS = 1000;

type Shown = { kind: string; title: string; options: NotificationOptions };
type Lead = { kind: string; path: string };

/** Phones take notices from the worker alone. False where there is none. */
export async function showByWorker(title: string, options: NotificationOptions): Promise<boolean> {
  const worker = await navigator.serviceWorker?.getRegistration();
  if (!worker?.active) return false;
  worker.active.postMessage({ kind: SHOW, title, options } satisfies Shown);
  return true;
}

/** Leads a page to where a notice points; answers how to end that. */
export function followNotices(go: (path: string) => unknown): () => void {
  const follow = (event: MessageEvent<Lead>): void => {
    if (event.data.kind !== LEAD) return;
    event.ports[0]?.postMessage(true);
    void go(event.data.path);
  };
  navigator.serviceWorker?.addEventListener('message', follow);
  return () => navigator.serviceWorker?.removeEventListener('message', follow);
}

export function hearNotices(worker: ServiceWorkerGlobalScope): void {
  worker.addEventListener('message', (event) => {
    const { kind, title, options } = event.data as Shown;
    if (kind === SHOW) event.waitUntil(showUnlessSeen(worker, title, options));
  });
  worker.addEventListener('notificationclick', (event) => {
    event.notification.close();
    event.waitUntil(lead(worker, (event.notification.data as { path: string }).path));
  });
}

/** Of several pages, each asks for itself; somebody may look at another one. */
async function showUnlessSeen(
  worker: ServiceWorkerGlobalScope,
  title: string,
  options: NotificationOptions,
): Promise<void> {
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  if (!pages.some(({ focused }) => focused)) await worker.registration.showNotification(title, options);
}

/** In a page that is open, without loading it anew: uploads go on there. Not every page can be led elsewhere. */
async function lead(worker: ServiceWorkerGlobalScope, path: string): Promise<void> {
  for (const page of await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })) {
    if (await follows(page, path)) return void (await page.focus());
  }
  await worker.clients.openWindow(path);
}

function follows(page: WindowClient, path: string): Promise<boolean> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((answer) => {
    port1.onmessage = () => answer(true);
    setTimeout(() => answer(false), ANSWERED_WITHIN_MS);
    page.postMessage({ kind: LEAD, path } satisfies Lead, [port2]);
  });
}
