// Two tabs that send the same file would stop each other again and again, so only one does, and the other waits for it.
// Plain http from another machine has no locks; there the server tells the earlier one that it was taken over.

/** Do it unless another tab is at it; whether it was done. */
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

/** Wait until no other tab is at it. */
export async function untilFree(name: string, signal: AbortSignal): Promise<void> {
  await navigator.locks.request(lockOf(name), { signal }, () => undefined);
}

/** What is being sent by some tab of this browser right now. */
export async function underWayInTabs(): Promise<Set<string>> {
  if (!('locks' in navigator)) return new Set();
  const { held = [] } = await navigator.locks.query();
  return new Set(held.flatMap(({ name }) => (name?.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : [])));
}

const PREFIX = 'satchel-upload:';

function lockOf(name: string): string {
  return PREFIX + name;
}
