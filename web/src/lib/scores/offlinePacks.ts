// Packs: a score or a set list with all that it needs on the stand, stored on this device on somebody's word.
import { Problem, problemFrom, unreachable } from '$lib/api/problems';
import { renewing } from '$lib/api/client';
import { t } from '$lib/i18n/index.svelte';
import {
  dropOfflineCachesOfOthers,
  dropStagingCache,
  hasOfflineCache,
  KEEP_APP,
  openOfflineCache,
  openStagingCache,
  PAST_KEPT,
} from '$lib/shell/offlineCache';

export type PackKind = 'scores' | 'set-lists';
/** What is to be stored. */
export type PackPlan = {
  kind: PackKind;
  id: string;
  name: string;
  /** The state that is stored: another one means that something has changed since. */
  version: string;
  pages: number;
  addresses: string[];
};
export type Pack = PackPlan & { bytes: number; storedAt: string };

const RECORDS = '/offline/';
const AT_ONCE = 4;

/** Plain http from another machine has neither; there, nothing can be stored. */
export function canStorePacks(): boolean {
  return 'caches' in globalThis && 'serviceWorker' in navigator;
}

/** Every pack on this device, the newest first. */
export async function readPacks(personId: string): Promise<Pack[]> {
  if (!canStorePacks() || !(await hasOfflineCache(personId))) return [];
  const cache = await openOfflineCache(personId);
  const records = (await cache.keys()).filter(({ url }) => new URL(url).pathname.startsWith(RECORDS));
  const packs = await Promise.all(
    records.map(async (record) => (await (await cache.match(record))?.json()) as Pack | undefined),
  );
  return packs
    .flatMap((pack) => pack ?? [])
    .toSorted((one, other) => other.storedAt.localeCompare(one.storedAt));
}

/** Whole, or not at all: what was stored before stays until then. `onprogress` gets the share that is stored. */
export async function storePack(
  personId: string,
  plan: PackPlan,
  onprogress: (share: number) => void,
): Promise<Pack> {
  await keepApp();
  // Browsers throw away what nobody asked them to keep; they may say no.
  await navigator.storage.persist();
  return alone(() => store(personId, plan, onprogress));
}

async function store(personId: string, plan: PackPlan, onprogress: (share: number) => void): Promise<Pack> {
  // Both are opened first: if somebody signs out meanwhile, they are gone, and so is what is put into them.
  const cache = await openOfflineCache(personId);
  const staging = await openStagingCache(personId);
  try {
    let bytes = 0;
    for (let at = 0; at < plan.addresses.length; at += AT_ONCE) {
      const some = plan.addresses.slice(at, at + AT_ONCE);
      const sizes = await Promise.all(some.map((address) => keep(staging, address)));
      bytes += sizes.reduce((sum, each) => sum + each, 0);
      onprogress((at + some.length) / plan.addresses.length);
    }
    await move(plan.addresses, staging, cache);
    const pack: Pack = { ...plan, bytes, storedAt: new Date().toISOString() };
    await put(cache, recordOf(plan), Response.json(pack));
    return pack;
  } finally {
    await dropStagingCache(personId);
    await prune(cache, personId);
  }
}

/** The pages first: what lists them comes last, so that it never names one that is missing. */
async function move(addresses: readonly string[], from: Cache, to: Cache): Promise<void> {
  for (const address of addresses.toReversed()) {
    const response = await from.match(address, { ignoreVary: true });
    if (!response) throw unreachable();
    await put(to, address, response);
    await from.delete(address, { ignoreVary: true });
  }
}

export async function removePack(personId: string, pack: Pick<Pack, 'kind' | 'id'>): Promise<void> {
  if (!canStorePacks()) return;
  await alone(async () => {
    const cache = await openOfflineCache(personId);
    await cache.delete(recordOf(pack));
    await prune(cache, personId);
  });
}

/** Another tab may store something: nobody may find that no pack needs it before it is complete. */
function alone<Result>(work: () => Promise<Result>): Promise<Result> {
  return navigator.locks.request('satchel-offline', work) as Promise<Result>;
}

function recordOf({ kind, id }: Pick<Pack, 'kind' | 'id'>): string {
  return `${RECORDS}${kind}/${id}`;
}

/** What no pack needs goes; with the last pack, all of it. */
async function prune(cache: Cache, personId: string): Promise<void> {
  const packs = await readPacks(personId);
  if (!packs.length) return dropOfflineCachesOfOthers(undefined);
  const needed = new Set(packs.flatMap((pack) => [recordOf(pack), ...pack.addresses]));
  for (const request of await cache.keys()) {
    const { pathname, search } = new URL(request.url);
    if (!needed.has(pathname + search)) await cache.delete(request);
  }
}

async function keep(cache: Cache, address: string): Promise<number> {
  const response = await renewing(new Request(address, PAST_KEPT)).catch(() => {
    throw unreachable();
  });
  if (!response.ok)
    throw problemFrom(
      response.status,
      response.headers.get('content-type'),
      await response.json().catch(() => undefined),
    );
  await put(cache, address, response.clone());
  return (await response.blob()).size;
}

async function put(cache: Cache, address: string, response: Response): Promise<void> {
  try {
    await cache.put(address, response);
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === 'QuotaExceededError')
      throw new Problem('device-full', 507, t('scores.offline.full'));
    throw unreachable();
  }
}

/** The parts of the app that were never visited are needed offline, too. */
async function keepApp(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  const worker = registration && (await navigator.serviceWorker.ready).active;
  if (!worker) throw new Problem('no-service-worker', 0, t('scores.offline.unsupported'));
  const { port1, port2 } = new MessageChannel();
  const kept = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
  worker.postMessage({ kind: KEEP_APP }, [port2]);
  if ((await kept) !== true) throw unreachable();
}
