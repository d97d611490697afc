// To whom somebody has handed things from this browser, so that they need not type it again. Nobody else is told.
import { session } from '$lib/shell/session.svelte';

const MOST = 12;

export function knownAddresses(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key()) ?? '[]');
    return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

export function remember(email: string): void {
  const others = knownAddresses().filter((each) => each !== email);
  try {
    localStorage.setItem(key(), JSON.stringify([email, ...others].slice(0, MOST)));
  } catch {
    // Storage is switched off or full: it is typed again the next time.
  }
}

/** Several people may use one browser. */
function key(): string {
  return `handed-to:${session.personId}`;
}
