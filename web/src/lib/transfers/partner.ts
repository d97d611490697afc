// The other side of a transfer, from the viewer's side.
import { DoorOpen, User, UserRound, UserX } from '@lucide/svelte';
import type { Component } from 'svelte';
import type { Transfer } from '$lib/api/transfers';
import { t } from '$lib/i18n/index.svelte';

export type Partner = {
  name: string;
  kind: 'member' | 'guest' | 'deleted' | 'room';
  icon: Component<{ size?: number; 'aria-hidden'?: 'true' }>;
};

const ICONS = { member: User, guest: UserRound, deleted: UserX, room: DoorOpen };
const KINDS = { person: 'member', room: 'room', deleted: 'deleted' } as const;

/** Whoever deleted their account has no name any more. */
export function nameOf({ name, kind }: { name: string; kind: string }): string {
  return kind === 'deleted' ? t('transfers.deletedPerson') : name;
}

export function partnerOf({ direction, sender, receiver }: Transfer): Partner {
  const partner = direction === 'received' ? sender : receiver;
  const kind = direction === 'received' ? sender.kind : KINDS[receiver.kind];
  return { name: nameOf(partner), kind, icon: ICONS[kind] };
}
