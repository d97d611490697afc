// The current visitor: asked of the server once, and updated by whatever changes it, in this tab or another.
import { ask, http, onSessionEnded, Problem, renew } from '$lib/api/client';
import { RepeatKeys } from '$lib/api/repeatKeys';
import type { paths } from '$lib/api/schema';
import { dropOfflineCachesOfOthers } from './offlineCache';
import { outbox } from './outbox.svelte';

export type Person = paths['/api/v1/accounts/me']['get']['responses'][200]['content']['application/json'];
export type Visitor =
  { kind: 'stranger' } | { kind: 'guest'; id: string; name: string } | ({ kind: 'member' } & Person);

const STRANGER: Visitor = { kind: 'stranger' };
const repeated = new RepeatKeys();
const otherTabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('satchel-session') : undefined;

class Session {
  visitor = $state<Visitor>(STRANGER);
  #known = false;
  #isLeaving = false;

  /** The id of the visitor for rooms, transfers and uploads, with an account or as a guest. */
  get personId(): string | undefined {
    const { visitor } = this;
    if (visitor.kind === 'stranger') return undefined;
    return visitor.kind === 'member' ? visitor.user_id : visitor.id;
  }

  /** Asks the server once. */
  async load(): Promise<Visitor> {
    if (!this.#known) await this.reload();
    return this.visitor;
  }

  async reload(): Promise<void> {
    this.visitor = await whoAmI();
    this.#known = true;
    await dropOfflineCachesOfOthers(this.personId);
  }

  /** The next `load` asks the server again. */
  forget(): void {
    this.#known = false;
  }

  /** Somebody has come or gone: nothing that is kept of whoever else was here before may answer who it is now. */
  async replaced(by?: string): Promise<void> {
    await dropOfflineCachesOfOthers(by);
    await this.changed();
  }

  /** The visitor has changed in this tab; the other tabs ask again. */
  async changed(): Promise<void> {
    await this.reload();
    otherTabs?.postMessage('changed');
  }

  /** The same guest, also if the answer is lost and it is asked again. */
  async enterAsGuest(name: string): Promise<void> {
    await repeated.once(name, (key) => {
      const params = { header: { 'Idempotency-Key': key } };
      return ask(http.POST('/api/v1/guests', { params, body: { name, keep: 'cookie' } }));
    });
    await this.replaced();
  }

  async signOut(): Promise<void> {
    const who = this.personId;
    this.#isLeaving = true;
    try {
      await ask(http.DELETE('/api/v1/sessions/current')).catch((problem: unknown) => {
        // Already signed out: nothing to do.
        if (!(problem instanceof Problem && problem.status === 401)) throw problem;
      });
      if (who !== undefined) await outbox.clear(who);
      await this.replaced();
    } finally {
      this.#isLeaving = false;
    }
  }

  /** Whether the server ended the session of somebody who does not leave by themselves at this moment. */
  get isTakenAway(): boolean {
    return this.visitor.kind === 'member' && !this.#isLeaving;
  }
}

async function whoAmI(): Promise<Visitor> {
  try {
    const caller = await ask(http.GET('/api/v1/whoami'));
    if (caller.kind === 'guest') return { kind: 'guest', id: caller.id ?? '', name: caller.name ?? '' };
    if (caller.kind === 'stranger') return STRANGER;
    const me = await ask(http.GET('/api/v1/accounts/me'));
    // The role has changed since the access token was issued: get a token with the present role.
    if (me.administrator !== caller.administrator) await renew();
    return { kind: 'member', ...me };
  } catch (problem) {
    // A session that ended: the server has told the browser to forget it.
    if (problem instanceof Problem && problem.status === 401) return STRANGER;
    throw problem;
  }
}

export const session = new Session();

/** Call back when another tab has signed in or out, or the server has ended the session. */
export function onSessionChangedElsewhere(callback: () => void): () => void {
  onSessionEnded(() => {
    if (session.isTakenAway) callback();
  });
  otherTabs?.addEventListener('message', callback);
  return () => otherTabs?.removeEventListener('message', callback);
}
