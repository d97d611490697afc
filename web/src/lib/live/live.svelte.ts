// The one live connection of this tab, and who wants to hear what from it: `onMount(() => live.on('room.chat', show))`.
import { invalidate } from '$app/navigation';
import { ask, http, Problem } from '$lib/api/client';
import { session } from '$lib/shell/session.svelte';
import { Connection, type Socket, type State } from './connection';
import { read, type Kind, type LiveEvent, type News } from './events';
import { Listeners } from './listeners';
import { watchOver } from './networkWatch';

class Live {
  state = $state<State>('off');
  readonly connected = $derived(this.state === 'connected');

  #person: string | undefined;
  #listeners = new Listeners();
  #connection = new Connection<LiveEvent>(
    { dial, read, isRecognised: () => this.#isRecognised(), random: Math.random },
    (event) => this.#listeners.tell(event),
    (state) => (this.state = state),
  );

  /**
   * Hear one kind of event; returns a function that ends it. On `resync`, which also follows every lost
   * connection, read again whatever the events keep up to date.
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

  /** To be called once by the root layout; detects what a WebSocket does not report. */
  watch(): () => void {
    return watchOver(this.#connection);
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
