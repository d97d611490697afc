// What becomes a notice of the system: offers, people who come into one's room, and requests that were answered.
import { goto } from '$app/navigation';
import { readSummary } from '$lib/api/transfers';
import { t } from '$lib/i18n/index.svelte';
import { live } from '$lib/live/live.svelte';
import { roomAddress } from '$lib/rooms/roomJoin.svelte';
import { readListed, readRoom, type RoomView } from '$lib/rooms/rooms';
import { followNotices } from '$lib/shell/noticeWorker';
import { notices } from '$lib/shell/notices.svelte';
import { shownName } from '$lib/ui/shownName';

/** Who was seen in each room, and who knocked there. */
const seen = new Map<string, Set<string>>();
let turn = Promise.resolve();
/** How many files came by each link since somebody last looked. */
const received = new Map<string, number>();

/** Returns a function that ends it. */
export function tellNotices(): () => void {
  const ends = [
    live.on('transfer.offered', ({ transfer_id }) => void quietly(() => tellOffer(transfer_id))),
    live.on('transfer.changed', ({ transfer_id }) => void quietly(() => tellReceipt(transfer_id))),
    live.on('room.changed', ({ room_id }) => inTurn(() => tellRoom(room_id))),
    live.on('link.received', (news) => void quietly(() => tellReceived(news))),
    followNotices((path) => goto(path)),
  ];
  inTurn(lookAround);
  return () => ends.forEach((end) => end());
}

/** Who is in one's room already is no news. */
async function lookAround(): Promise<void> {
  const { current } = await readListed();
  if (current) seen.set(current.room_id, idsOf(await readRoom(current.room_id)));
}

/** One after the other: an older answer must not make somebody new twice. */
function inTurn(work: () => Promise<void>): void {
  turn = turn.then(() => quietly(work));
}

/** A notice is a hint: where something cannot be read, there is none. */
async function quietly(work: () => Promise<void>): Promise<void> {
  if (!notices.on) return;
  await work().catch(() => undefined);
}

async function tellOffer(transferId: string): Promise<void> {
  if (!notices.due) return;
  const { sender, files, file_count } = await readSummary(transferId);
  await notices.tell({
    title: t('transfers.offer.title', { name: sender.name, count: file_count }),
    body: shownName(files.map(({ name }) => name).join(', ')),
    path: `/transfers/${transferId}`,
    tag: transferId,
  });
}

async function tellReceipt(transferId: string): Promise<void> {
  if (!notices.due) return;
  const { direction, receiver, state, files } = await readSummary(transferId);
  if (direction !== 'sent' || state !== 'verified') return;
  await notices.tell({
    title: t('notices.verified', { name: receiver.name }),
    body: shownName(files.map(({ name }) => name).join(', ')),
    path: `/transfers/${transferId}`,
    tag: transferId,
  });
}

async function tellRoom(roomId: string): Promise<void> {
  const room = await readRoom(roomId);
  // A room of one's own was opened just now, with nobody else; in another's, everybody was there before.
  const before = seen.get(roomId) ?? (room.is_owner ? new Set() : idsOf(room));
  const come = [...room.people, ...room.knocks].filter(
    ({ person_id }) => person_id !== room.you && !before.has(person_id),
  );
  seen.set(roomId, idsOf(room));
  for (const { person_id, name } of come) {
    const knocks = room.knocks.some((knock) => knock.person_id === person_id);
    await notices.tell({
      title: t(knocks ? 'rooms.knocks' : 'notices.joined', { name }),
      body: room.name,
      path: roomAddress(roomId),
      tag: `${roomId} ${person_id}`,
    });
  }
}

function idsOf({ people, knocks }: RoomView): Set<string> {
  return new Set([...people, ...knocks].map(({ person_id }) => person_id));
}

async function tellReceived({
  link_id,
  file_name,
  uploader,
}: {
  link_id: string;
  file_name: string;
  uploader: string;
}): Promise<void> {
  if (!notices.due) return received.clear();
  const count = (received.get(link_id) ?? 0) + 1;
  received.set(link_id, count);
  await notices.tell({
    title: t('notices.received', { count }),
    body: [uploader, shownName(file_name)].filter(Boolean).join(': '),
    path: '/links',
    tag: `link ${link_id}`,
  });
}
