// What the server tells while it happens, and how a frame of the live connection becomes one of these.
import type { components, paths } from '$lib/api/schema';

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
};

export type Kind = keyof News;
export type LiveEvent = { [Each in Kind]: { type: Each } & News[Each] }[Kind];
/** The first frame of every connection. */
export type Hello = { type: 'hello'; person_id: string };

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
};

/** What a frame says; nothing, if it speaks of what a newer server knows and we do not. */
export function read(frame: unknown): LiveEvent | Hello | undefined {
  if (typeof frame !== 'string') return undefined;
  let said: unknown;
  try {
    said = JSON.parse(frame);
  } catch {
    return undefined;
  }
  const type = (said as { type?: unknown } | null)?.type;
  return typeof type === 'string' && Object.hasOwn(KINDS, type) ? (said as LiveEvent | Hello) : undefined;
}
