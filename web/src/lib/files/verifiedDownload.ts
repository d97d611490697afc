// Downloads what was handed over and verifies it: the file is hashed on its way, saved only if it is what was sent,
// and reported, so that both sides know that it was received and verified.
import { Problem } from '$lib/api/problems';
import {
  challengeFor,
  contentPath,
  readSummary,
  reportVerified,
  type Transfer,
  type TransferFile,
} from '$lib/api/transfers';
import { t } from '$lib/i18n/index.svelte';
import { saveFrom } from '$lib/shell/browserDownload';
import { archiveOf, type ArchiveFile } from './archive';
import { beside, digest } from './digest';
import { isOneByOne, saveBytes, saveBytesOneByOne } from './savedOneByOne';

/** Larger downloads are not held in memory: they go straight to the disk, and are checked there. */
export const MOST_HELD_BYTES = 512 * 2 ** 20;

type Progress = (share: number) => void;

/** Whether it is small enough to be verified while it is downloaded. */
export function canBeHeld(files: readonly TransferFile[]): boolean {
  return bytesIn(files) <= MOST_HELD_BYTES;
}

/** Fetch, verify, save and report. Several files come as one archive, but on a phone. */
export async function receive(
  transfer: Transfer,
  files: readonly TransferFile[],
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { transfer_id } = transfer;
  // A worker cannot renew a session that has run out; this can.
  await readSummary(transfer_id);
  const proofs = new Map<number, string>();
  const taken = await beside((worker) => take(worker, transfer_id, files, proofs, progress, signal));
  const [first] = taken;
  if (first && taken.length === 1) saveBytes(first.bytes, files[0]?.name ?? first.path);
  else if (isOneByOne(taken.length))
    await saveBytesOneByOne(taken.map(({ bytes }, at) => ({ bytes, name: files[at]?.name ?? '' })));
  else saveBytes(archiveOf(taken), `${nameOf(transfer)}.zip`);
  for (const [place, proof] of proofs) await reportVerified(transfer_id, place, proof);
}

async function take(
  worker: Worker,
  transferId: string,
  files: readonly TransferFile[],
  proofs: Map<number, string>,
  progress: Progress,
  signal: AbortSignal,
): Promise<ArchiveFile[]> {
  const whole = bytesIn(files) || 1;
  const taken: ArchiveFile[] = [];
  let before = 0;
  for (const file of files) {
    const told = (bytes: number): void => progress((before + bytes) / whole);
    const challenge = await challengeFor(transferId, file.place);
    const task = { url: contentPath(transferId, file), challenge };
    const digested = await digest(worker, task, told, signal);
    if (digested.sha256 !== file.sha256) throw differs(file);
    proofs.set(file.place, digested.proof);
    taken.push({ path: pathOf(file), bytes: digested.bytes, crc32: digested.crc32 });
    before += file.size_bytes;
  }
  return taken;
}

/** Large files: the browser downloads them, and only the server knows that the last byte was sent. */
export async function receiveUnchecked({ transfer_id }: Transfer, file: TransferFile): Promise<void> {
  await readSummary(transfer_id);
  saveFrom(contentPath(transfer_id, file), file.name);
}

/** Verifies a copy on the device. */
export async function checkCopy(
  { transfer_id }: Transfer,
  file: TransferFile,
  copy: File,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const told = (bytes: number): void => progress(bytes / (copy.size || 1));
  const challenge = await challengeFor(transfer_id, file.place);
  const { sha256, proof } = await beside((worker) => digest(worker, { file: copy, challenge }, told, signal));
  if (sha256 !== file.sha256) throw differs(file);
  await reportVerified(transfer_id, file.place, proof);
}

function differs({ name }: TransferFile): Problem {
  return new Problem('hash-differs', 422, t('transfers.differs', { name }));
}

function bytesIn(files: readonly TransferFile[]): number {
  return files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
}

function pathOf({ folder, name }: TransferFile): string {
  return folder ? `${folder}/${name}` : name;
}

/** What an archive of it is called: by the folder if there is one, else by who sent it. */
function nameOf({ files, sender }: Transfer): string {
  const folders = new Set(files.map(({ folder }) => folder.split('/')[0]));
  const [only] = folders;
  return folders.size === 1 && only ? only : t('transfers.archiveName', { name: sender.name });
}
