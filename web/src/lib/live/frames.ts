// How a frame of a live connection becomes an event, and the types of all events, generated from the server's own.
import type { components } from './schema';

/** Every event that the server sends, over whichever connection. */
export type ServerEvent = components['schemas']['LiveEvent'];
export type EventType = ServerEvent['type'];
export type EventOf<Type extends EventType> = Extract<ServerEvent, { type: Type }>;

/** The first frame of every connection. */
export type Hello = EventOf<'hello'>;
/** Events may have been missed: read again whatever they keep up to date. The client also says so after a reconnect. */
export type Resync = EventOf<'resync'>;

/** Reads events of these types; undefined for anything else, such as an event that only a newer server knows. */
export function readerOf<Type extends EventType>(
  types: Record<Type, true>,
): (frame: unknown) => EventOf<Type> | undefined {
  return (frame) => {
    if (typeof frame !== 'string') return undefined;
    let said: unknown;
    try {
      said = JSON.parse(frame);
    } catch {
      return undefined;
    }
    const type = (said as { type?: unknown } | null)?.type;
    return typeof type === 'string' && Object.hasOwn(types, type) ? (said as EventOf<Type>) : undefined;
  };
}
