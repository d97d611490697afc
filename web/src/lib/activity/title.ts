// The title of a scope: the name of a link, or the name of the thing that links lead to.
import { readLink, readLinksTo, titleOf, writtenThing, type LinkView } from '$lib/api/links';
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
  return { name: links[0]?.thing.name ?? '', links };
}

/** The scope of what a link leads to. */
export function scopeOfThing({ thing }: LinkView): string {
  return `thing:${writtenThing(thing)}`;
}
