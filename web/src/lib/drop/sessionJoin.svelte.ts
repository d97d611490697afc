// The ways into a session: open one, join by link or by code, or come back after a reload; and the session that this
// tab is in, also while it shows other pages.
import { Problem } from '$lib/api/problems';
import { t, type Key } from '$lib/i18n/index.svelte';
import { deviceName } from '$lib/shell/deviceName';
import { session as person } from '$lib/shell/session.svelte';
import { findSession, joinSession, knock, MemberCalls, openSession, showTag } from './calls';
import { fromBase64, newId, toBase64 } from './crypto/bytes';
import { readInvitation, type Invitation } from './crypto/codes';
import { Guest } from './crypto/cpace';
import { UnknownSuite, Unreadable, Untrusted, WrongDoor } from './crypto/errors';
import { Keys, Secret, SUITE, type Introduction } from './crypto/keys';
import { DropSession } from './session.svelte';
import { forget, isClaimed, ownName, remembered, type Remembered } from './tabMemory';

const BUSY_MS = 60_000;
const BUSY_PAUSE_MS = 1000;

class Whereabouts {
  session = $state.raw<DropSession>();

  /** Only one at a time; whoever goes into another leaves this one. */
  async enter(way: () => Promise<DropSession>): Promise<DropSession> {
    const next = await told(way);
    const before = this.session;
    this.session = next;
    if (before && !before.ended) await before.leave().catch(() => before.end('left'));
    return next;
  }
}

export const here = new Whereabouts();

export async function open(): Promise<DropSession> {
  const [secret, sessionId, memberId] = [Secret.draw(), newId(), newId()];
  const keys = await Keys.of(secret, sessionId);
  const entry = await openSession({
    session_id: sessionId,
    admission: toBase64(await keys.admissionDigest()),
    member_id: memberId,
    sealed: toBase64(await keys.introduce(memberId, introduction())),
  });
  const { name, token, link_base: linkBase } = entry;
  const session = new DropSession({ sessionId, memberId, name, token, linkBase }, secret, keys);
  await session.takeDoor();
  return session;
}

export async function joinBySecret(name: string, secret: Secret): Promise<DropSession> {
  return join(await findSession(name), secret);
}

/** Out of what stands behind the `#`. */
export async function enterByLink(name: string, fragment: string): Promise<void> {
  await here.enter(async () => joinBySecret(name, Secret.ofFragment(fragment)));
}

export async function joinByCode(name: string, code: string): Promise<DropSession> {
  const sessionId = await findSession(name);
  const { guest, knockId, share } = await knockUntilFree({ code, name, sessionId });
  const tag = await guest.tag(fromBase64(share));
  const verdict = await showTag(sessionId, knockId, toBase64(tag));
  return join(sessionId, await guest.open(fromBase64(verdict.tag), fromBase64(verdict.sealed)));
}

type Knocked = { guest: Guest; knockId: string; share: string };

/** Guests are let in one at a time, each within a second unless they have to type; so whoever comes second waits. */
async function knockUntilFree(at: { code: string; name: string; sessionId: string }): Promise<Knocked> {
  for (const until = performance.now() + BUSY_MS; ; await pause(BUSY_PAUSE_MS)) {
    const knockId = newId();
    const guest = await Guest.knock({ ...at, knockId });
    const body = { knock_id: knockId, suite: SUITE, share: toBase64(guest.share) };
    try {
      return { guest, knockId, share: (await knock(at.sessionId, body)).share };
    } catch (problem) {
      const isBusy = problem instanceof Problem && problem.slug === 'door-busy';
      if (!isBusy || performance.now() > until) throw problem;
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Into the session that this tab was in before it was loaded anew, if there was one, and of that name. */
export async function comeBack(name?: string): Promise<void> {
  const kept = remembered(name);
  if (here.session || !kept || !(await isStillMember(kept))) return;
  const secret = Secret.ofFragment(kept.secret);
  if (await isClaimed(kept.memberId)) {
    here.session = await join(kept.sessionId, secret);
    return;
  }
  here.session = new DropSession(kept, secret, await Keys.of(secret, kept.sessionId), kept.door);
}

async function isStillMember(kept: Remembered): Promise<boolean> {
  try {
    await new MemberCalls(kept.sessionId, kept.token).read();
    return true;
  } catch (problem) {
    if (!(problem instanceof Problem && problem.status === 404)) throw problem;
    forget(kept);
    return false;
  }
}

/** What somebody typed or pasted; a link may lead to another server. */
export function readTyped(text: string): Invitation {
  const invitation = toldNow(() => readInvitation(text));
  if (invitation.server !== null && invitation.server !== location.origin)
    throw new Problem('drop', 0, t('drop.wrong.otherServer', { server: invitation.server }), 'code');
  return invitation;
}

async function join(sessionId: string, secret: Secret): Promise<DropSession> {
  const [keys, memberId] = [await Keys.of(secret, sessionId), newId()];
  const { name, token } = await joinSession(sessionId, {
    member_id: memberId,
    admission: toBase64(keys.admission),
    sealed: toBase64(await keys.introduce(memberId, introduction())),
  });
  const linkBase = `${location.origin}/drop/${name}`;
  return new DropSession({ sessionId, memberId, name, token, linkBase }, secret, keys);
}

function introduction(): Introduction {
  const { visitor } = person;
  const device = deviceName(navigator.userAgent);
  // Somebody without a name is told from others by what they came with.
  return { name: (visitor.kind === 'stranger' ? ownName() : visitor.name) || device, device };
}

async function told<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (failure) {
    throw inWords(failure);
  }
}

function toldNow<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (failure) {
    throw inWords(failure);
  }
}

/** What another member, the server or one's own fingers got wrong, as something that forms can show. */
function inWords(failure: unknown): unknown {
  if (!(failure instanceof Untrusted)) return failure;
  let key: Key = 'drop.wrong.tampered';
  if (failure instanceof Unreadable) key = 'drop.wrong.unreadable';
  else if (failure instanceof UnknownSuite) key = 'drop.wrong.suite';
  else if (failure instanceof WrongDoor) key = 'drop.wrong.door';
  return new Problem('drop', 0, t(key), 'code');
}
