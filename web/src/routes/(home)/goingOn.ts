// What home shows of each slice, read together, so that the page does not jump while parts arrive.
import { ask, http } from '$lib/api/client';
import { readTransfers, type Transfer } from '$lib/api/transfers';
import { readLatest } from '$lib/albums/photoCalls';
import type { Photo } from '$lib/albums/photo';
import { ROOT } from '$lib/files/addresses';
import { readFolder, type Entry } from '$lib/files/entries';
import { readListed, type OwnRoom } from '$lib/rooms/rooms';
import { readLibrary, type ScoreCard } from '$lib/scores/scoreCalls';

export type Unfinished = { upload_id: string; name: string; offset_bytes: number; size_bytes: number };
export type GoingOn = {
  here: OwnRoom | null;
  rooms: OwnRoom[];
  uploads: Unfinished[];
  transfers: Transfer[];
  entries: Entry[];
  photos: Photo[];
  scores: ScoreCard[];
};

const [MOST_ROWS, MOST_PICTURES] = [4, 8];

export async function readGoingOn(): Promise<GoingOn> {
  const [{ current, rooms }, { uploads }, { transfers }, { entries }, photos, { scores }] = await Promise.all(
    [
      readListed(),
      ask(http.GET('/api/v1/uploads')),
      readTransfers('all', null),
      readFolder(ROOT, 'newest', null, MOST_ROWS),
      readLatest(MOST_PICTURES),
      readLibrary(),
    ],
  );
  return {
    here: current,
    rooms: rooms.filter(({ room_id }) => room_id !== current?.room_id),
    uploads,
    transfers: transfers.slice(0, MOST_ROWS),
    entries,
    photos,
    scores: scores.toSorted((a, b) => (a.changed_at < b.changed_at ? 1 : -1)).slice(0, MOST_ROWS),
  };
}

/** Nothing was kept or passed on yet. */
export function isFirstVisit({ transfers, entries, photos, scores }: GoingOn): boolean {
  return ![transfers, entries, photos, scores].some(({ length }) => length);
}
