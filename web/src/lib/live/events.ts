// The events that the server sends to a person while things happen; those of the drop have a connection of their own.
import { readerOf, type EventOf, type EventType } from './frames';

export type Kind = Exclude<EventType, `drop.${string}`>;
/**
 * Each event by its type. `hello` comes once, when the connection stands for the first time: what was read before may
 * lack what happened since. `resync` comes from the server, and after every lost connection.
 */
export type News = { [Each in Kind]: EventOf<Each> };
export type LiveEvent = News[Kind];

export type ChatMessage = News['room.chat']['message'];
export type RoomFile = News['room.file']['file'];

// The type check fails if the server has an event that is missing here, or the other way round.
const KINDS: Record<Kind, true> = {
  hello: true,
  resync: true,
  'link.received': true,
  'room.changed': true,
  'room.chat': true,
  'room.file': true,
  'room.file-gone': true,
  'room.closed': true,
  'room.admitted': true,
  'room.turned-away': true,
  'shelf.changed': true,
  'transfer.offered': true,
  'transfer.changed': true,
  'album.photos': true,
  'album.changed': true,
  'score.changed': true,
  'score.marks': true,
  'score.layers': true,
  'score.deleted': true,
  'score.import': true,
  'score.turned': true,
  'set-list.changed': true,
  'stats.changed': true,
  'stats.site-changed': true,
};

export const read = readerOf(KINDS);
