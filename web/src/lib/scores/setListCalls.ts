// The API calls for set lists, and their types.
import { ask, http } from '$lib/api/client';
import type { components } from '$lib/api/schema';
import type { How, ScoreShare } from './scoreCalls';

export type SetList = components['schemas']['SetListView'];
export type SetListCard = components['schemas']['SetListCard'];
export type Entry = SetList['entries'][number];
export type EntryDraft = Pick<Entry, 'score_id' | 'notes' | 'page_ids' | 'transpose'>;
export type SetListDraft = { name: string; notes: string; entries: EntryDraft[] };

export async function readSetLists(): Promise<SetListCard[]> {
  return (await ask(http.GET('/api/v1/set-lists', {}))).set_lists;
}

export function readSetList(listId: string, how: How = {}): Promise<SetList> {
  return ask(http.GET('/api/v1/set-lists/{list_id}', { ...which(listId), ...how }));
}

export function createSetList(name: string, key: string): Promise<SetList> {
  const params = { header: { 'Idempotency-Key': key } };
  return ask(http.POST('/api/v1/set-lists', { params, body: { name } }));
}

/** All of it at once, unless somebody was faster. */
export function changeSetList({ list_id, etag }: SetList, body: SetListDraft): Promise<SetList> {
  const params = { path: { list_id }, header: { 'If-Match': `"${etag}"` } };
  return ask(http.PUT('/api/v1/set-lists/{list_id}', { params, body }));
}

export async function deleteSetList(listId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/set-lists/{list_id}', which(listId)));
}

export async function leaveSetList(listId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/set-lists/{list_id}/membership', which(listId)));
}

export async function readListShares(listId: string): Promise<ScoreShare[]> {
  return (await ask(http.GET('/api/v1/set-lists/{list_id}/shares', which(listId)))).shares;
}

export async function shareSetList(listId: string, email: string): Promise<void> {
  const params = { path: { list_id: listId, email } };
  await ask(http.PUT('/api/v1/set-lists/{list_id}/shares/{email}', { params }));
}

export async function stopSharingList(listId: string, email: string): Promise<void> {
  const params = { path: { list_id: listId, email } };
  await ask(http.DELETE('/api/v1/set-lists/{list_id}/shares/{email}', { params }));
}

/** Without what only the server knows. */
export function draftOf({ name, notes, entries }: SetList): SetListDraft {
  return { name, notes, entries: entries.map(entryDraft) };
}

export function entryDraft({ score_id, notes, page_ids, transpose }: EntryDraft): EntryDraft {
  return { score_id, notes, page_ids, transpose };
}

function which(listId: string): { params: { path: { list_id: string } } } {
  return { params: { path: { list_id: listId } } };
}
