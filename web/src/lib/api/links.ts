// The API calls for links, and their types.
import type { components } from '$lib/api/schema';
import { ask, http } from './client';
import { RepeatKeys } from './repeatKeys';

export type LinkView = components['schemas']['LinkView'];
export type LinkState = LinkView['state'];
export type ThingKind = LinkView['thing']['kind'];
export type Place = components['schemas']['PlaceView'];
export type NewLink = components['schemas']['NewLink'];
export type LinkChange = components['schemas']['LinkChange'];
/** What a link is to lead to; files can be asked for before there is a folder for them. */
export type Thing = { kind: ThingKind; id: string | undefined; name: string };

type Page = { links: LinkView[]; cursor: string | null };

const PAGE = 50;
const MOST_OF_ONE_THING = 100;
const repeated = new RepeatKeys();

export function readLinks(cursor: string | null): Promise<Page> {
  const query = { limit: PAGE, ...(cursor !== null && { cursor }) };
  return ask(http.GET('/api/v1/links', { params: { query } }));
}

export function readLink(linkId: string): Promise<LinkView> {
  return ask(http.GET('/api/v1/links/{link_id}', { params: { path: { link_id: linkId } } }));
}

/** Includes revoked links; for a folder, also requests for files into it. */
export async function readLinksTo(thing: string): Promise<LinkView[]> {
  const query = { thing, limit: MOST_OF_ONE_THING };
  const { links } = await ask(http.GET('/api/v1/links', { params: { query } }));
  return links;
}

export function giveLink(body: NewLink): Promise<LinkView> {
  return repeated.once(body, (key) =>
    ask(http.POST('/api/v1/links', { params: { header: { 'Idempotency-Key': key } }, body })),
  );
}

export function changeLink(linkId: string, body: LinkChange): Promise<LinkView> {
  return ask(http.PATCH('/api/v1/links/{link_id}', { params: { path: { link_id: linkId } }, body }));
}

/** The downloads by a link that have begun and not ended. */
export async function readPlaces(linkId: string): Promise<Place[]> {
  const found: Place[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = {
      limit: MOST_OF_ONE_THING,
      ...(cursor !== null && { cursor }),
    };
    const params = { path: { link_id: linkId }, query };
    const page: { places: Place[]; cursor: string | null } = await ask(
      http.GET('/api/v1/links/{link_id}/places', { params }),
    );
    found.push(...page.places);
    cursor = page.cursor;
  } while (cursor !== null);
  return found;
}

export async function giveBack(linkId: string, placeId: string): Promise<void> {
  const params = { path: { link_id: linkId, place_id: placeId } };
  await ask(http.DELETE('/api/v1/links/{link_id}/places/{place_id}', { params }));
}

export async function revokeLink(linkId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/links/{link_id}', { params: { path: { link_id: linkId } } }));
}

/** What a link leads to, as the server writes it; asking for files is a way to use a folder. */
export function writtenThing({ kind, id }: { kind: ThingKind; id: string }): string {
  return `${kind === 'request' ? 'folder' : kind}:${id}`;
}

/** What a link is called where its owner looks for it. */
export function titleOf({ name, thing }: LinkView): string {
  return name || thing.name;
}
