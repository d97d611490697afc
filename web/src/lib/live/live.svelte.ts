// The one live connection of this tab, and who wants to hear what from it: `onMount(() => live.on('room.chat', show))`.
import { invalidate } from '$app/navigation';
import { ask, http, Problem } from '$lib/api/client';
import { session } from '$lib/session.svelte';
import { Connection, type Socket, type State } from './connection';
import type { Kind, News } from './events';
import { Listeners } from './listeners';

const LOOK_EVERY_MS = 10_000;
// Hidden pages are woken once a minute at least; a longer gap means that the device slept, and the line with it.
const SLEPT_MS = 90_000;

class Live {
  state = $state<State>('off');
  readonly connected = $derived(this.state === 'connected');

  #person: string | undefined;
  #listeners = new Listeners();
  #connection = new Connection(
    { dial, isRecognised: () => this.#isRecognised(), random: Math.random },
    (event) => this.#listeners.tell(event),
    (state) => (this.state = state),
  );
  #lastLook = Date.now();

  /**
   * Hear of one kind of news until the function that is given back is called. On `resync`, which also follows every lost
   * connection, read again whatever news keep right.
   */
  on<Each extends Kind>(kind: Each, handler: (news: News[Each]) => void): () => void {
    return this.#listeners.add(kind, handler);
  }

  /** Listen for this person, or for nobody; whoever was listened for before hears nothing more. */
  belongTo(person: string | undefined): void {
    if (person === this.#person) return;
    this.#person = person;
    this.#connection.stop();
    if (person !== undefined) this.#connection.start();
  }

  /** To be called by the shell; looks out for what browsers do not say of a socket. */
  watch(): () => void {
    const offline = (): void => this.#connection.suspect();
    const online = (): void => this.#connection.hurry();
    const shown = (): void => {
      this.#look();
      if (document.visibilityState === 'visible') this.#connection.hurry();
    };
    const clock = setInterval(() => this.#look(), LOOK_EVERY_MS);
    window.addEventListener('offline', offline);
    window.addEventListener('online', online);
    document.addEventListener('visibilitychange', shown);
    return () => {
      clearInterval(clock);
      window.removeEventListener('offline', offline);
      window.removeEventListener('online', online);
      document.removeEventListener('visibilitychange', shown);
    };
  }

  #look(): void {
    const slept = Date.now() - this.#lastLook > SLEPT_MS;
    this.#lastLook = Date.now();
    if (!slept) return;
    this.#connection.suspect();
    this.#connection.hurry();
  }

  async #isRecognised(): Promise<boolean> {
    try {
      const caller = await ask(http.GET('/api/v1/whoami'));
      if (caller.id === this.#person) return true;
    } catch (problem) {
      if (!(problem instanceof Problem && problem.status === 401)) throw problem;
    }
    // Whoever comes next, be it the same, is somebody new.
    this.#person = undefined;
    session.forget();
    await invalidate('satchel:session');
    return false;
  }
}

function dial(): Socket {
  return new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/v1/live`) as unknown as Socket;
}

export const live = new Live();
