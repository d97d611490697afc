// What a tab remembers of its session, so that a reload does not put one out: the tab alone, and only until it is closed.
import type { DoorCode } from './door';

export type Remembered = {
  sessionId: string;
  name: string;
  memberId: string;
  token: string;
  linkBase: string;
  /** As it stands in the link. */
  secret: string;
  door: DoorCode | undefined;
};

const CURRENT = 'drop';
const OWN_NAME = 'drop-name';

export function remember(session: Remembered): void {
  attempt(() => sessionStorage.setItem(CURRENT, JSON.stringify(session)));
}

/** Only if it is still this one. */
export function forget({ sessionId }: Remembered): void {
  if (remembered()?.sessionId === sessionId) attempt(() => sessionStorage.removeItem(CURRENT));
}

export function remembered(name?: string): Remembered | undefined {
  const kept = attempt(() => JSON.parse(sessionStorage.getItem(CURRENT) ?? 'null') as Remembered | null);
  return kept && (name === undefined || kept.name === name) ? kept : undefined;
}

/**
 * Says in every tab that this one is the member, until the function that is given back is called; without it a duplicated
 * tab, which remembers the same, would take itself for them and withdraw what it cannot send.
 */
export function claim(memberId: string): () => void {
  let release: () => void = () => undefined;
  const claimed = new Promise<void>((resolve) => (release = resolve));
  void navigator.locks.request(claimOf(memberId), () => claimed);
  return release;
}

export async function isClaimed(memberId: string): Promise<boolean> {
  const { held } = await navigator.locks.query();
  return held?.some(({ name }) => name === claimOf(memberId)) ?? false;
}

function claimOf(memberId: string): string {
  return `drop-${memberId}`;
}

/** What strangers call themselves; whoever is signed in has a name. */
export function ownName(): string {
  return attempt(() => localStorage.getItem(OWN_NAME)) ?? '';
}

export function callMyself(name: string): void {
  attempt(() => localStorage.setItem(OWN_NAME, name));
}

/** Where storage is switched off, nothing is remembered. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
