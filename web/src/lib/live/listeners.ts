// The handlers of live events, by type.
import type { Kind, LiveEvent, News } from './events';

export class Listeners {
  #handlers = new Map<Kind, Set<(news: never) => void>>();

  /** Returns a function that ends it. */
  add<Each extends Kind>(kind: Each, handler: (news: News[Each]) => void): () => void {
    const handlers = this.#handlers.get(kind) ?? new Set();
    this.#handlers.set(kind, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  tell(event: LiveEvent): void {
    // A handler may take itself away while it is called.
    for (const handler of [...(this.#handlers.get(event.type) ?? [])]) handler(event as never);
  }
}
