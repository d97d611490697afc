// The title of a scope: the name of a link, or that of the thing that was looked at.
import { ask, http } from '$lib/api/client';
import { readLink, readLinksTo, titleOf, writtenThing, type LinkView } from '$lib/api/links';
import { Problem } from '$lib/api/problems';
import { session } from '$lib/shell/session.svelte';
import { readCounter } from './counters';

/** `links` are those that lead to a thing. */
export type Title = { name: string; link?: LinkView; links: LinkView[] };

const SCOPE = /^(mine|site|link:.+|counter:.+|thing:[a-z]+:.+)$/;

export function isScope(written: string): boolean {
  return SCOPE.test(written);
}

/** `file`, `folder`, `room`, `transfer`, …; undefined for other scopes. */
export function thingKindOf(scope: string): string | undefined {
  const [kind, thing] = scope.split(':');
  return kind === 'thing' ? thing : undefined;
}

export async function readTitle(scope: string): Promise<Title> {
  const [kind, ...rest] = scope.split(':');
  const name = rest.join(':');
  if (kind === 'link') {
    const link = await readLink(name);
    return { name: titleOf(link), link, links: [] };
  }
  if (kind === 'counter') return { name: (await readCounter(name)).name, links: [] };
  if (kind !== 'thing') return { name: '', links: [] };
  const links = await readLinksTo(name);
  return { name: links[0]?.thing.name ?? (await nameOf(name)), links };
}

/** The name of something that is looked at without a link, too; empty if it is gone. */
async function nameOf(thing: string): Promise<string> {
  const [kind, id = ''] = thing.split(':');
  try {
    if (kind === 'album')
      return (await ask(http.GET('/api/v1/albums/{album_id}', { params: { path: { album_id: id } } }))).name;
    if (kind !== 'photo') return '';
    const path = { owner: session.personId ?? '', media_id: id };
    return (await ask(http.GET('/api/v1/photos/{owner}/{media_id}', { params: { path } }))).name;
  } catch (failure) {
    if (!(failure instanceof Problem)) throw failure;
    return '';
  }
}

/** The scope of what a link leads to. */
export function scopeOfThing({ thing }: LinkView): string {
  return `thing:${writtenThing(thing)}`;
}
