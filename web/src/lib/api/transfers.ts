// The API calls for transfers, and their types.
import type { components } from '$lib/api/schema';
import { ask, http } from './client';
import { RepeatKeys } from './repeatKeys';

export type Transfer = components['schemas']['TransferView'];
export type TransferFile = Transfer['files'][number];
export type Receipt = Transfer['receipts'][number];
export type State = Transfer['state'];
export type Direction = 'all' | Transfer['direction'];

export type Receiver =
  | { kind: 'email'; email: string }
  | { kind: 'person'; room_id: string; person_id: string }
  | { kind: 'room'; room_id: string };

export type HandOverOptions = {
  note?: string;
  /** A hand-out to a room: everybody is asked to hand something in. */
  wantsAnswers?: boolean;
  /** The hand-out that this is handed in for. */
  answers?: string;
};

const PAGE = 30;
const FIRST_FILES = 10;
const repeated = new RepeatKeys();

/** Files and folders of the shelf by e-mail; in a room, files of that room. With the same key it is done once. */
export function handOver(
  to: Receiver,
  files: readonly string[],
  options: HandOverOptions = {},
  key?: string,
): Promise<Transfer> {
  const { note, wantsAnswers, answers } = options;
  const body = {
    to,
    files: [...files],
    ...(note?.trim() && { note: note.trim() }),
    ...(wantsAnswers && { wants_answers: true }),
    ...(answers && { answers }),
  };
  const send = (key: string): Promise<Transfer> =>
    ask(http.POST('/api/v1/transfers', { params: { header: { 'Idempotency-Key': key } }, body }));
  return key ? send(key) : repeated.once(body, send);
}

/** Refused if nothing can be sent to this address. Nothing is sent. */
export function checkReceiver(email: string): Promise<unknown> {
  return ask(http.POST('/api/v1/transfers/receiver', { body: { email } }));
}

export function readTransfers(
  direction: Direction,
  cursor: string | null,
): Promise<{ transfers: Transfer[]; cursor: string | null }> {
  const query = { direction, limit: PAGE, ...(cursor !== null && { cursor }) };
  return ask(http.GET('/api/v1/transfers', { params: { query } }));
}

export function readWaiting(): Promise<{ transfers: Transfer[]; more: boolean }> {
  return ask(http.GET('/api/v1/transfers/waiting'));
}

export async function readTransfer(transferId: string): Promise<Transfer> {
  return withAllFiles(await readFiles(transferId, {}));
}

/** As it stands in lists, with the first of its files. */
export function readSummary(transferId: string): Promise<Transfer> {
  return readFiles(transferId, { limit: FIRST_FILES });
}

/** The same with the files that did not fit into the answer. */
export async function withAllFiles(transfer: Transfer): Promise<Transfer> {
  let { cursor, is_available } = transfer;
  const files = [...transfer.files];
  while (cursor !== null) {
    const page = await readFiles(transfer.transfer_id, { cursor });
    files.push(...page.files);
    is_available &&= page.is_available;
    ({ cursor } = page);
  }
  return { ...transfer, files, is_available, cursor };
}

function readFiles(transfer_id: string, query: { cursor?: string; limit?: number }): Promise<Transfer> {
  return ask(http.GET('/api/v1/transfers/{transfer_id}', { params: { path: { transfer_id }, query } }));
}

export async function markOpened(transferId: string): Promise<Transfer> {
  return withAllFiles(await ask(http.POST('/api/v1/transfers/{transfer_id}/opened', which(transferId))));
}

export async function decline(transferId: string): Promise<Transfer> {
  return withAllFiles(await ask(http.POST('/api/v1/transfers/{transfer_id}/decline', which(transferId))));
}

/** Saves it to the receiver's shelf; answers the ids there, by place. */
export async function saveToShelf(transferId: string): Promise<{ transfer: Transfer; files: string[] }> {
  const params = { ...which(transferId), body: {} };
  const { transfer, files } = await ask(http.POST('/api/v1/transfers/{transfer_id}/save', params));
  return { transfer: await withAllFiles(transfer), files };
}

/** Withdraws it from everybody who has not taken it yet. */
export async function withdraw(transferId: string): Promise<Transfer> {
  return withAllFiles(await ask(http.POST('/api/v1/transfers/{transfer_id}/withdraw', which(transferId))));
}

/** Sends the same again, as a new transfer. */
export function resend(transferId: string): Promise<Transfer> {
  const path = { transfer_id: transferId };
  return repeated.once(['resend', transferId], (key) =>
    ask(
      http.POST('/api/v1/transfers/{transfer_id}/resend', {
        params: { path, header: { 'Idempotency-Key': key } },
      }),
    ),
  );
}

/** A challenge that only somebody with every byte of the file can answer. */
export async function challengeFor(transferId: string, place: number): Promise<string> {
  const params = { path: { transfer_id: transferId, place } };
  return (await ask(http.POST('/api/v1/transfers/{transfer_id}/files/{place}/challenge', { params })))
    .challenge;
}

/** With the first of its files. */
export function reportVerified(transferId: string, place: number, proof: string): Promise<Transfer> {
  const params = { path: { transfer_id: transferId, place } };
  return ask(
    http.POST('/api/v1/transfers/{transfer_id}/files/{place}/verified', { params, body: { proof } }),
  );
}

export function contentPath(transferId: string, { place }: TransferFile): string {
  return `/api/v1/transfers/${transferId}/files/${place}/content`;
}

function which(transferId: string): { params: { path: { transfer_id: string } } } {
  return { params: { path: { transfer_id: transferId } } };
}
