// What happens live to a thing that a link leads to, for a visitor who looks at it.
import { Connection, type Socket } from './connection';
import { read, type Kind, type LiveEvent, type News } from './events';
import { Listeners } from './listeners';
import { watchOver } from './networkWatch';

export class LinkNews {
  #listeners = new Listeners();
  #connection: Connection<LiveEvent>;

  /** `address` is that of the live connection. `isOpen` says whether the link still lets the visitor in. */
  constructor(address: () => string, isOpen: () => Promise<boolean>) {
    const dial = (): Socket =>
      new WebSocket(`${location.origin.replace(/^http/, 'ws')}${address()}`) as unknown as Socket;
    this.#connection = new Connection<LiveEvent>(
      { dial, read, isRecognised: isOpen, random: Math.random },
      (event) => this.#listeners.tell(event),
      () => undefined,
    );
  }

  on<Each extends Kind>(kind: Each, handler: (news: News[Each]) => void): () => void {
    return this.#listeners.add(kind, handler);
  }

  /** Returns a function that ends it. */
  follow(): () => void {
    const unwatch = watchOver(this.#connection);
    this.#connection.start();
    return () => {
      unwatch();
      this.#connection.stop();
    };
  }
}
