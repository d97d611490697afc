// Where one can go: the one list behind the sidebar, the tab bar and the command palette.
import { Backpack, CircleUser, Settings2 } from '@lucide/svelte';
import type { Component } from 'svelte';
import type { Key } from '$lib/i18n/index.svelte';
import type { Visitor } from '$lib/session.svelte';

export type Place = {
  path: string;
  label: Key;
  icon: Component<{ size?: number; 'aria-hidden'?: 'true' }>;
};

export function placesFor(visitor: Visitor): Place[] {
  if (visitor.kind !== 'member') return [];
  const places: Place[] = [
    { path: '/shelf', label: 'nav.shelf', icon: Backpack },
    { path: '/account', label: 'nav.account', icon: CircleUser },
  ];
  if (visitor.administrator)
    places.push({ path: '/administration', label: 'nav.administration', icon: Settings2 });
  return places;
}
