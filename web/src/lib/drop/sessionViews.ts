// Members and files of a session as their owners described them, unsealed; what does not open is not shown.
import type { FileView, MemberView } from './calls';
import { fromBase64 } from './crypto/bytes';
import { Untrusted } from './crypto/errors';
import type { Description, Keys } from './crypto/keys';

export type Member = { id: string; name: string; device: string; isHere: boolean; joinedAt: string };
export type Offer = Description & { id: string; ownerId: string };

export async function openMember(keys: Keys, view: MemberView): Promise<Member | undefined> {
  const said = await unlessForged(() => keys.openIntroduction(view.member_id, fromBase64(view.sealed)));
  return said && { ...said, id: view.member_id, isHere: view.here, joinedAt: view.joined_at };
}

export async function openOffer(keys: Keys, view: FileView): Promise<Offer | undefined> {
  const { file_id: id, owner_id: ownerId } = view;
  const said = await unlessForged(() => keys.openAnnouncement(id, ownerId, fromBase64(view.sealed)));
  return said && { ...said, id, ownerId };
}

const ORDER = new Intl.Collator(undefined, { numeric: true });

/** The server tells them in no order. */
export function byName(offers: readonly Offer[]): Offer[] {
  return offers.toSorted((one, other) => ORDER.compare(one.name, other.name));
}

/** The list with this in it, in the place of what it had by the same id. */
export function withEach<Item extends { id: string }>(
  list: readonly Item[],
  news: readonly (Item | undefined)[],
): Item[] {
  const whole = new Map(list.map((item) => [item.id, item]));
  for (const item of news) if (item) whole.set(item.id, item);
  return [...whole.values()];
}

async function unlessForged<Said>(open: () => Promise<Said>): Promise<Said | undefined> {
  try {
    return await open();
  } catch (failure) {
    if (failure instanceof Untrusted) return undefined;
    throw failure;
  }
}
