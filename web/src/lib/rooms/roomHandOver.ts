// Hands files over in a room: they are uploaded or copied there, and offered as one transfer once all have arrived.
import { handOver, type HandOverOptions, type Receiver, type Transfer } from '$lib/api/transfers';
import type { Picked } from '$lib/files/pickedFiles';
import { hasLanded, missesShelf } from '$lib/files/receiptSteps';
import { t } from '$lib/i18n/index.svelte';
import { act } from '$lib/shell/action';
import { session } from '$lib/shell/session.svelte';
import { toasts } from '$lib/ui/toasts.svelte';
import { whenArrived } from '$lib/uploads/arrival.svelte';
import { browserStorage, queue } from '$lib/uploads/queue.svelte';
import type { Whereto } from '$lib/uploads/resumeStore';
import { randomKey } from '$lib/api/repeatKeys';
import { filesOf, HandOvers, type HandOver, type Target } from './pendingHandOvers.svelte';
import { bring, type RoomFile } from './rooms';

export const handOvers = new HandOvers(browserStorage());

/** What somebody is about to send, before it is known which files. */
export type HandOverDraft = {
  /** None means everybody. */
  person?: Target['person'];
  /** The hand-out that this is handed in for. */
  answers?: string;
  /** Whether it goes to the shelf of whoever asked, or is lost with the room. */
  isKept?: boolean;
  /** Show one's own shelf at once. */
  fromShelf?: boolean;
  /** Where in the room's shelf it goes. */
  folder?: string;
};

/** Something to hand in for a hand-out. */
export function answerTo({ transfer_id, sender, answers_folder }: Transfer): HandOverDraft {
  return { person: sender, answers: transfer_id, isKept: answers_folder !== null };
}

// One transfer has at most this many files; more are split.
const MOST_FILES = 5000;

/** Send what was picked; `folder` is where in the room's shelf it goes. */
export async function send(
  target: Target,
  picked: readonly Picked[],
  options: HandOverOptions & { folder?: string } = {},
): Promise<void> {
  const { folder, ...rest } = options;
  const uploads = queue.add(folder ? picked.map((each) => within(folder, each)) : picked, wheretoOf(target));
  if (!uploads.length) return;
  const handOver = { key: randomKey(), owner: session.personId ?? '', target: plain(target), options: rest };
  await handOvers.carry(handOver, async () => offer(target, await whenArrived(uploads), rest, handOver.key));
}

/** Hand over what a closed page has left behind in the room. */
export async function sendLeftBehind(handOver: HandOver, files: readonly RoomFile[]): Promise<void> {
  const { target, options } = handOver;
  const ids = filesOf(handOver, files).map(({ file_id }) => file_id);
  await handOvers.carry(handOver, () => offer(target, ids, options, handOver.key));
}

/** Copy from the shelf of whoever sends. */
export async function sendFromShelf(
  target: Target,
  entries: readonly string[],
  options: HandOverOptions = {},
): Promise<boolean> {
  return act(async () => {
    const files = await bring(target.roomId, entries, target.person?.person_id);
    await offer(
      target,
      files.map(({ file_id }) => file_id),
      options,
    );
  });
}

export function wheretoOf({ roomId, person }: Target): Whereto {
  return { destination: 'room', room: roomId, ...(person && { to: person.person_id }) };
}

/** Whether nothing is left to be told. */
async function offer(
  target: Target,
  fileIds: readonly string[],
  options: HandOverOptions,
  key?: string,
): Promise<boolean> {
  const { roomId: room_id, person } = target;
  const to: Receiver = person
    ? { kind: 'person', room_id, person_id: person.person_id }
    : { kind: 'room', room_id };
  let sent: Transfer | undefined;
  for (let at = 0; at < fileIds.length; at += MOST_FILES) {
    const offered = await act(async () => {
      const some = fileIds.slice(at, at + MOST_FILES);
      // Also when a page that was closed meanwhile had sent them: the same files are the same transfer.
      sent = await handOver(to, some, options, key && `${key}-${first(some)}`);
    });
    if (!offered) return false;
  }
  if (!fileIds.length) return true;
  const count = fileIds.length;
  toasts.good(person ? sentence(person.name, count, sent) : t('rooms.sent.toAll', { count }));
  return true;
}

/** What was sent to one person, and where it is. */
function sentence(name: string, count: number, sent: Transfer | undefined): string {
  if (sent && missesShelf(sent)) return t('transfers.shelfFullOf', { name });
  if (sent?.answers && sent.receipts.some(hasLanded)) return t('rooms.sent.toShelf', { count, name });
  return t('rooms.sent.toPerson', { count, name });
}

function first(ids: readonly string[]): string {
  return ids.reduce((one, other) => (other < one ? other : one));
}

/** No more of a person than is needed to name them. */
function plain({ roomId, person }: Target): Target {
  return { roomId, ...(person && { person: { person_id: person.person_id, name: person.name } }) };
}

function within(folder: string, { file, path }: Picked): Picked {
  return { file, path: `${folder}/${path || file.name}` };
}
