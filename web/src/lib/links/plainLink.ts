// A link that can be given to anybody without a word: the one that is there, or a new one.
import { giveLink, readLinksTo, writtenThing, type LinkView, type ThingKind } from '$lib/api/links';

export type Target = { kind: ThingKind; id: string };

/** `ongive` hears of it when a link was made. */
export async function plainLinkTo(thing: Target, ongive?: () => void): Promise<LinkView> {
  const known = (await readLinksTo(writtenThing(thing))).find((each) => isPlain(each, thing.kind));
  if (known) return known;
  const made = await giveLink({ thing });
  ongive?.();
  return made;
}

function isPlain({ state, thing, has_password, downloads_limit }: LinkView, kind: ThingKind): boolean {
  return state === 'active' && thing.kind === kind && !has_password && downloads_limit === null;
}
