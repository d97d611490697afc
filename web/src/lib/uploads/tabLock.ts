// A lock between tabs: two that sent the same file would stop each other again and again, so one waits for the other.
// Plain http from another machine has no locks; there the server tells the earlier one that it was taken over.

/** Runs `work` unless another tab holds the lock; answers whether it ran. */
export async function unlessElsewhere(name: string, work: () => Promise<void>): Promise<boolean> {
  if (!('locks' in navigator)) {
    await work();
    return true;
  }
  return navigator.locks.request(lockOf(name), { ifAvailable: true }, async (lock) => {
    if (lock) await work();
    return lock !== null;
  });
}

/** Waits until no other tab holds the lock. */
export async function untilFree(name: string, signal: AbortSignal): Promise<void> {
  await navigator.locks.request(lockOf(name), { signal }, () => undefined);
}

/** The fingerprints that tabs of this browser are uploading now. */
export async function underWayInTabs(): Promise<Set<string>> {
  if (!('locks' in navigator)) return new Set();
  const { held = [] } = await navigator.locks.query();
  return new Set(held.flatMap(({ name }) => (name?.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : [])));
}

const PREFIX = 'satchel-upload:';

function lockOf(name: string): string {
  return PREFIX + name;
}
