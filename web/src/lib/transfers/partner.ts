// The other side of a transfer, from the viewer's side.
import { DoorOpen, User, UserRound } from '@lucide/svelte';
import type { Component } from 'svelte';
import type { Transfer } from '$lib/api/transfers';

export type Partner = {
  name: string;
  kind: 'member' | 'guest' | 'room';
  icon: Component<{ size?: number; 'aria-hidden'?: 'true' }>;
};

const ICONS = { member: User, guest: UserRound, room: DoorOpen };

export function partnerOf({ direction, sender, receiver }: Transfer): Partner {
  if (direction === 'received') return { name: sender.name, kind: sender.kind, icon: ICONS[sender.kind] };
  const kind = receiver.kind === 'room' ? 'room' : 'member';
  return { name: receiver.name, kind, icon: ICONS[kind] };
}
