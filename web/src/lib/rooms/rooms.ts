// The API calls for rooms, and their types.
import { ask, http } from '$lib/api/client';
import { RepeatKeys } from '$lib/api/repeatKeys';
import type { components, paths } from '$lib/api/schema';
import type { ChatMessage, RoomFile } from '$lib/live/events';
import { inParts } from '$lib/shell/browserDownload';

export type { ChatMessage, RoomFile };
export type RoomView =
  paths['/api/v1/rooms/{room_id}']['get']['responses'][200]['content']['application/json'];
export type Person = RoomView['people'][number];
export type Knock = RoomView['knocks'][number];
export type OwnRoom = components['schemas']['OwnedRoom'];
type Changes = components['schemas']['RoomPatch'];

const MESSAGES_AT_ONCE = 100;
const repeated = new RepeatKeys();

export function openRoom(body: components['schemas']['NewRoom']): Promise<RoomView> {
  return repeated.once(body, (key) =>
    ask(http.POST('/api/v1/rooms', { params: { header: { 'Idempotency-Key': key } }, body })),
  );
}

/** Whoever has no account may call themselves as they like. */
export function isGuest(personId: string): boolean {
  return personId.startsWith('guest-');
}

/** Undefined while the owner has not let us in. */
export async function join(code: string, key = ''): Promise<RoomView | undefined> {
  const { room } = await ask(http.POST('/api/v1/rooms/join', { body: { code, key } }));
  return room ?? undefined;
}

/** The open rooms of one's own, and the room that one is in, whosever it is. */
export function readListed(): Promise<{ rooms: OwnRoom[]; current: OwnRoom | null }> {
  return ask(http.GET('/api/v1/rooms/mine'));
}

export async function readCurrent(): Promise<OwnRoom | undefined> {
  return (await readListed()).current ?? undefined;
}

export function readRoom(roomId: string): Promise<RoomView> {
  return ask(http.GET('/api/v1/rooms/{room_id}', at(roomId)));
}

export async function readFiles(roomId: string): Promise<RoomFile[]> {
  let page = await readFilesFrom(roomId, {});
  const all = page.files;
  while (page.cursor !== null) {
    page = await readFilesFrom(roomId, { cursor: page.cursor });
    all.push(...page.files);
  }
  return all;
}

function readFilesFrom(
  roomId: string,
  query: { cursor?: string },
): Promise<components['schemas']['FileList']> {
  return ask(http.GET('/api/v1/rooms/{room_id}/files', { params: { path: { room_id: roomId }, query } }));
}

export function readChat(
  roomId: string,
  before?: string,
): Promise<{ messages: ChatMessage[]; more: boolean }> {
  const query = { limit: MESSAGES_AT_ONCE, ...(before !== undefined && { before }) };
  return ask(http.GET('/api/v1/rooms/{room_id}/chat', { params: { path: { room_id: roomId }, query } }));
}

export function say(roomId: string, text: string): Promise<ChatMessage> {
  return repeated.once([roomId, text], (key) => {
    const params = { path: { room_id: roomId }, header: { 'Idempotency-Key': key } };
    return ask(http.POST('/api/v1/rooms/{room_id}/chat', { params, body: { text } }));
  });
}

export function change(roomId: string, body: Changes): Promise<RoomView> {
  return ask(http.PATCH('/api/v1/rooms/{room_id}', { ...at(roomId), body }));
}

export async function close(roomId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/rooms/{room_id}', at(roomId)));
}

export async function leave(roomId: string): Promise<void> {
  await ask(http.POST('/api/v1/rooms/{room_id}/leave', at(roomId)));
}

export async function admit(roomId: string, personId: string): Promise<void> {
  await ask(http.POST('/api/v1/rooms/{room_id}/knocks/{person_id}/admit', whom(roomId, personId)));
}

export async function turnAway(roomId: string, personId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/rooms/{room_id}/knocks/{person_id}', whom(roomId, personId)));
}

export async function putOut(roomId: string, personId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/rooms/{room_id}/people/{person_id}', whom(roomId, personId)));
}

/** Old letters and links lead nowhere; who is in the room stays. */
export async function changeCode(roomId: string): Promise<void> {
  await ask(http.POST('/api/v1/rooms/{room_id}/code', at(roomId)));
}

/** Copies of what stands on the shelf of whoever asks; everybody sees them, or one person. */
export async function bring(roomId: string, shelf: readonly string[], to?: string): Promise<RoomFile[]> {
  const body = { shelf: [...shelf], ...(to !== undefined && { to }) };
  const send = (key: string): Promise<{ files: RoomFile[] }> => {
    const params = { path: { room_id: roomId }, header: { 'Idempotency-Key': key } };
    return ask(http.POST('/api/v1/rooms/{room_id}/files', { params, body }));
  };
  return (await repeated.once([roomId, body], send)).files;
}

export async function removeFile(roomId: string, fileId: string): Promise<void> {
  const params = { path: { room_id: roomId, file_id: fileId } };
  await ask(http.DELETE('/api/v1/rooms/{room_id}/files/{file_id}', { params }));
}

export function qrPath(roomId: string): string {
  return `/api/v1/rooms/${roomId}/qr`;
}

export function filePath(roomId: string, fileId: string): string {
  return `/api/v1/rooms/${roomId}/files/${fileId}`;
}

/** Without ids, all files in one archive; else these, in as many as their addresses need. */
export function archivePaths(roomId: string, fileIds: readonly string[]): string[] {
  const path = `/api/v1/rooms/${roomId}/archive`;
  if (!fileIds.length) return [path];
  return inParts(fileIds).map((part) => `${path}?${new URLSearchParams(part.map((id) => ['file', id]))}`);
}

function at(roomId: string): { params: { path: { room_id: string } } } {
  return { params: { path: { room_id: roomId } } };
}

function whom(
  roomId: string,
  personId: string,
): { params: { path: { room_id: string; person_id: string } } } {
  return { params: { path: { room_id: roomId, person_id: personId } } };
}
