// How each state of a link is shown to its owner.
import { DoorOpen, FileMusic, Files, FileText, Folder, Images, Inbox } from '@lucide/svelte';
import type { LinkState, LinkView, ThingKind } from '$lib/api/links';

export const KIND_ICONS = {
  file: FileText,
  folder: Folder,
  selection: Files,
  room: DoorOpen,
  request: Inbox,
  album: Images,
  photos: Images,
  score: FileMusic,
} as const satisfies Record<ThingKind, unknown>;

export const STATE_LOOKS: Record<LinkState, 'good' | 'accent' | 'bad'> = {
  active: 'good',
  paused: 'accent',
  'not-yet': 'accent',
  expired: 'bad',
  'used-up': 'bad',
  revoked: 'bad',
  gone: 'bad',
};

const SOON_MS = 3 * 86_400_000;

/** Whether its end is near or behind it, so that more time is likely wanted. */
export function endsSoon({ state, expires_at }: LinkView, now = Date.now()): boolean {
  if (!expires_at || state === 'revoked' || state === 'gone') return false;
  return Date.parse(expires_at) - now < SOON_MS;
}
