// The e-mail addresses to which this browser has handed things over, as suggestions. They stay in the browser.
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
