// The places of the app: one list for the sidebar, the tab bar and the command palette.
import {
  ArrowLeftRight,
  Backpack,
  ChartColumn,
  CircleUser,
  DoorOpen,
  FileMusic,
  House,
  Images,
  Link,
  PackageOpen,
  Settings2,
} from '@lucide/svelte';
import type { Component } from 'svelte';
import type { Key } from '$lib/i18n/index.svelte';
import type { Visitor } from './session.svelte';

export type Place = {
  path: string;
  label: Key;
  icon: Component<{ size?: number; 'aria-hidden'?: 'true' }>;
  /** Other paths that belong to it. */
  also?: string;
  /** Seldom used: on a phone it is above the page, not under the thumb. */
  aside?: boolean;
  /** Reached from other places, so that only the search names it. */
  unlisted?: boolean;
};

export function placesFor(visitor: Visitor): Place[] {
  if (visitor.kind !== 'member') return [];
  const places: Place[] = [
    { path: '/', label: 'nav.start', icon: House, also: '/transfers' },
    { path: '/transfers', label: 'nav.transfers', icon: ArrowLeftRight, unlisted: true },
    { path: '/shelf', label: 'nav.shelf', icon: Backpack },
    { path: '/photos', label: 'nav.photos', icon: Images, also: '/albums' },
    { path: '/scores', label: 'nav.scores', icon: FileMusic },
    { path: '/rooms', label: 'nav.rooms', icon: DoorOpen },
    { path: '/drop', label: 'nav.drop', icon: PackageOpen },
    { path: '/links', label: 'nav.links', icon: Link },
    { path: '/activity', label: 'nav.activity', icon: ChartColumn, aside: true },
    { path: '/account', label: 'nav.account', icon: CircleUser, aside: true },
  ];
  if (visitor.administrator)
    places.push({ path: '/administration', label: 'nav.administration', icon: Settings2, aside: true });
  return places;
}
