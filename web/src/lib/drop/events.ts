// The events that the server sends to the members of a session while things happen.
import { readerOf, type EventOf, type EventType } from '$lib/live/frames';

type Kind = Extract<EventType, 'resync' | `drop.${string}`>;
export type DropEvent = EventOf<Kind>;
export type Closing = EventOf<'drop.closed'>['reason'];

// The type check fails if the server has an event that is missing here, or the other way round.
const KINDS: Record<Kind | 'hello', true> = {
  hello: true,
  resync: true,
  'drop.member': true,
  'drop.left': true,
  'drop.files': true,
  'drop.withdrawn': true,
  'drop.door': true,
  'drop.lock': true,
  'drop.request': true,
  'drop.declined': true,
  'drop.progress': true,
  'drop.done': true,
  'drop.ended': true,
  'drop.closed': true,
  'drop.knock': true,
  'drop.tag': true,
};

export const read = readerOf(KINDS);
