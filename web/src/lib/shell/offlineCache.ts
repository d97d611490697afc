// What a person has asked to keep on this device for use without a network. It is theirs, and goes when they sign out.

const PREFIX = 'satchel-offline-';
// What is being collected; nothing is answered with it.
const STAGING = '-new';
/** Asks the service worker to keep the whole app; it answers on the port that comes along. */
export const KEEP_APP = 'app.keep';
// Longer than this nobody waits on a stage, where a network may be there and lead nowhere.
const PATIENCE_MS = 4000;
// What is at these addresses never changes.
const NEVER_CHANGES = /^\/api\/v1\/scores\/[^/]+\/items\/[^/]+\/content$/;
const MAY_BE_KEPT = /^\/api\/v1\/(whoami|accounts\/me|scores\/.+|set-lists\/.+)$/;

/** How the server itself is asked, past what is kept. */
export const PAST_KEPT = { cache: 'reload' } as const;

export function openOfflineCache(personId: string): Promise<Cache> {
  return caches.open(PREFIX + personId);
}

/** Empty, for what will be moved to the other one when it is complete. */
export async function openStagingCache(personId: string): Promise<Cache> {
  await dropStagingCache(personId);
  return caches.open(PREFIX + personId + STAGING);
}

export function dropStagingCache(personId: string): Promise<boolean> {
  return caches.delete(PREFIX + personId + STAGING);
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
  const own = personId === undefined ? [] : [PREFIX + personId, PREFIX + personId + STAGING];
  const others = (await caches.keys()).filter((name) => isOfflineCache(name) && !own.includes(name));
  await Promise.all(others.map((name) => caches.delete(name)));
}

export function mayBeKept({ cache, url }: Request): boolean {
  return cache !== PAST_KEPT.cache && MAY_BE_KEPT.test(new URL(url).pathname);
}

/** As the server has it now; what is kept, if there is no way to the server. Never anything but what somebody asked to keep. */
export async function freshOrOffline(request: Request): Promise<Response> {
  const kept = await keptAnswer(request);
  if (!kept) return fetch(request);
  if (NEVER_CHANGES.test(new URL(request.url).pathname)) return kept;
  const fresh = fetch(request);
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  // Whoever kept it may have signed out meanwhile: then it is gone.
  const instead = async (): Promise<Response> => (await keptAnswer(request)) ?? fresh;
  return Promise.race([fresh.catch(instead), late.then(instead)]);
}

async function keptAnswer(request: Request): Promise<Response | undefined> {
  const complete = (await caches.keys()).filter((name) => isOfflineCache(name) && !name.endsWith(STAGING));
  for (const cacheName of complete) {
    const kept = await caches.match(request, { cacheName, ignoreVary: true });
    if (kept) return kept;
  }
  return undefined;
}
