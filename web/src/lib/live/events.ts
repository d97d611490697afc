// What the server tells a person while it happens.
import type { components, paths } from '$lib/api/schema';
import { readerOf, type Hello } from './frames';

export type ChatMessage = components['schemas']['Message'];
export type RoomFile =
  paths['/api/v1/rooms/{room_id}/files']['get']['responses'][200]['content']['application/json']['files'][number];

/** Each kind of news with what it carries. `resync` comes from the server, and after every lost connection. */
export type News = {
  resync: object;
  'room.changed': { room_id: string };
  'room.chat': { room_id: string; message: ChatMessage };
  'room.file': { room_id: string; file: RoomFile };
  'room.file-gone': { room_id: string; file_id: string };
  'room.closed': { room_id: string; reason: 'closed' | 'expired' | 'removed' | 'left' };
  'room.admitted': { room_id: string };
  'room.turned-away': { room_id: string };
  'transfer.offered': { transfer_id: string };
  'transfer.changed': { transfer_id: string };
  /** How often what one shares was clicked, in all and on this UTC day. */
  'stats.changed': { total: number; today: number; day: string };
  /** Something of anybody's was clicked; for administrators who look at the whole site. */
  'stats.site-changed': object;
};

export type Kind = keyof News;
export type LiveEvent = { [Each in Kind]: { type: Each } & News[Each] }[Kind];

const KINDS: Record<Kind | 'hello', true> = {
  hello: true,
  resync: true,
  'room.changed': true,
  'room.chat': true,
  'room.file': true,
  'room.file-gone': true,
  'room.closed': true,
  'room.admitted': true,
  'room.turned-away': true,
  'transfer.offered': true,
  'transfer.changed': true,
  'stats.changed': true,
  'stats.site-changed': true,
};

/** What a frame says; nothing, if it is news to us that there is such news. */
export const read = readerOf<LiveEvent | Hello>(KINDS);
