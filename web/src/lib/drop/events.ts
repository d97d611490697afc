// What the server tells the members of a session while it happens.
import { readerOf, type Hello } from '$lib/live/frames';
import type { FileView, MemberView, RequestView } from './calls';

export type Closing = 'closed' | 'removed' | 'left';

export type DropEvent =
  | { type: 'resync' }
  | { type: 'drop.member'; member: MemberView }
  | { type: 'drop.left'; member_id: string }
  | { type: 'drop.files'; files: FileView[] }
  | { type: 'drop.withdrawn'; file_ids: string[] }
  | { type: 'drop.door'; door_id: string | null }
  | { type: 'drop.request'; request: RequestView }
  | { type: 'drop.declined'; request_id: string; reason: string }
  | { type: 'drop.progress'; request_id: string; chunks: number }
  | { type: 'drop.done'; request_id: string; receipt: string }
  | { type: 'drop.ended'; request_id: string }
  | { type: 'drop.closed'; reason: Closing }
  | { type: 'drop.knock'; knock_id: string; suite: number; share: string }
  | { type: 'drop.tag'; knock_id: string; tag: string };

const KINDS: Record<DropEvent['type'] | 'hello', true> = {
  hello: true,
  resync: true,
  'drop.member': true,
  'drop.left': true,
  'drop.files': true,
  'drop.withdrawn': true,
  'drop.door': true,
  'drop.request': true,
  'drop.declined': true,
  'drop.progress': true,
  'drop.done': true,
  'drop.ended': true,
  'drop.closed': true,
  'drop.knock': true,
  'drop.tag': true,
};

export const read = readerOf<DropEvent | Hello>(KINDS);
