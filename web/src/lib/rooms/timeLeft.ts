// The time that a room has left, and how far it can be extended.

const WARNING_SECONDS = 10 * 60;
const LONGEST_MS = 7 * 24 * 3_600_000;

export function timeLeft(expiresAt: string, now: number): { seconds: number; ending: boolean } {
  const seconds = Math.max(0, Math.round((Date.parse(expiresAt) - now) / 1000));
  return { seconds, ending: seconds < WARNING_SECONDS };
}

/** So many hours more, but no longer than a room may be open from now on. */
export function longestExtension(expiresAt: string, hours: number, now: number): string {
  const wanted = Math.max(Date.parse(expiresAt), now) + hours * 3_600_000;
  return new Date(Math.min(wanted, now + LONGEST_MS)).toISOString();
}
