// What a person has asked to keep on this device for use without a network. It is theirs, and goes when they sign out.

const PREFIX = 'satchel-offline-';
/** Asks the service worker to keep the whole app; it answers on the port that comes along. */
export const KEEP_APP = 'app.keep';
// Longer than this nobody waits on a stage, where a network may be there and lead nowhere.
const PATIENCE_MS = 4000;
// What is at these addresses never changes.
const NEVER_CHANGES = /^\/api\/v1\/scores\/[^/]+\/items\/[^/]+\/content$/;
const MAY_BE_KEPT = /^\/api\/v1\/(whoami|accounts\/me|scores\/.+|set-lists\/.+)$/;

export function openOfflineCache(personId: string): Promise<Cache> {
  return caches.open(PREFIX + personId);
}

export function hasOfflineCache(personId: string): Promise<boolean> {
  return caches.has(PREFIX + personId);
}

export function isOfflineCache(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** Only what this person keeps may stay; without one, nothing. */
export async function dropOfflineCachesOfOthers(personId: string | undefined): Promise<void> {
  if (!('caches' in globalThis)) return;
  const others = (await caches.keys()).filter(
    (name) => isOfflineCache(name) && name !== PREFIX + (personId ?? ''),
  );
  await Promise.all(others.map((name) => caches.delete(name)));
}

export function mayBeKept({ pathname }: URL): boolean {
  return MAY_BE_KEPT.test(pathname);
}

/** As the server has it now; what is kept, if there is no way to the server. Never anything but what somebody asked to keep. */
export async function freshOrOffline(request: Request): Promise<Response> {
  const kept = await keptAnswer(request);
  if (!kept) return fetch(request);
  if (NEVER_CHANGES.test(new URL(request.url).pathname)) return kept;
  const late = new Promise<Response>((resolve) => setTimeout(() => resolve(kept), PATIENCE_MS));
  return Promise.race([fetch(request).catch(() => kept), late]);
}

async function keptAnswer(request: Request): Promise<Response | undefined> {
  for (const cacheName of (await caches.keys()).filter(isOfflineCache)) {
    const kept = await caches.match(request, { cacheName, ignoreVary: true });
    if (kept) return kept;
  }
  return undefined;
}
