// Who is using the app: asked of the server once, kept right by everything that changes it, in this tab and in others.
import { ask, http, onSessionEnded, Problem, renew } from '$lib/api/client';
import type { paths } from '$lib/api/schema';

export type Person = paths['/api/v1/accounts/me']['get']['responses'][200]['content']['application/json'];
export type Visitor =
  { kind: 'stranger' } | { kind: 'guest'; id: string; name: string } | ({ kind: 'member' } & Person);

const STRANGER: Visitor = { kind: 'stranger' };
const otherTabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('satchel-session') : undefined;

class Session {
  visitor = $state<Visitor>(STRANGER);
  #known = false;

  /** By which rooms, transfers and uploads know whoever is here, with an account or as a guest. */
  get personId(): string | undefined {
    const { visitor } = this;
    if (visitor.kind === 'stranger') return undefined;
    return visitor.kind === 'member' ? visitor.user_id : visitor.id;
  }

  /** Ask the server, unless it was asked before. */
  async load(): Promise<Visitor> {
    if (!this.#known) await this.reload();
    return this.visitor;
  }

  async reload(): Promise<void> {
    this.visitor = await whoAmI();
    this.#known = true;
  }

  /** Ask again the next time that somebody wants to know. */
  forget(): void {
    this.#known = false;
  }

  /** Who one is has changed here; other tabs look again. */
  async changed(): Promise<void> {
    await this.reload();
    otherTabs?.postMessage('changed');
  }

  async signOut(): Promise<void> {
    await ask(http.DELETE('/api/v1/sessions/current')).catch((problem: unknown) => {
      // Whoever is signed out already has what they wanted.
      if (!(problem instanceof Problem && problem.status === 401)) throw problem;
    });
    await this.changed();
  }
}

async function whoAmI(): Promise<Visitor> {
  try {
    const caller = await ask(http.GET('/api/v1/whoami'));
    if (caller.kind === 'guest') return { kind: 'guest', id: caller.id ?? '', name: caller.name ?? '' };
    if (caller.kind === 'stranger') return STRANGER;
    const me = await ask(http.GET('/api/v1/accounts/me'));
    // Made an administrator, or no longer one, since the access token was made: one that knows it is better.
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
    if (session.visitor.kind === 'member') callback();
  });
  otherTabs?.addEventListener('message', callback);
  return () => otherTabs?.removeEventListener('message', callback);
}
