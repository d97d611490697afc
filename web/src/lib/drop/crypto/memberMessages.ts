// Checks the decrypted messages of members. A member may be wrong or hostile, so everything is validated.
import { fromBase64, type Bytes } from './bytes';
import { Tampered } from './errors';

export type Introduction = { name: string; device: string };

export type Description = {
  kind: 'file' | 'folder' | 'text';
  name: string;
  /** Null while it is not known, as for a pipe. */
  size: number | null;
  files: number;
  modified: string | null;
  type: string;
};

/** The part of a content that is there already: the number and size of its whole chunks, and their digest. */
export type Have = { chunk: number; chunks: number; digest: Bytes };

const MOST_CHUNK_BYTES = 2 ** 20;

type Said = Record<string, unknown>;

export function readIntroduction(said: unknown): Introduction {
  const { name, device } = fieldsOf(said);
  return { name: letters(name), device: letters(device) };
}

export function readDescription(said: unknown): Description {
  const { kind, name, size, files, modified, type } = fieldsOf(said);
  if (kind !== 'file' && kind !== 'folder' && kind !== 'text') throw new Tampered('There is no such kind.');
  return {
    kind,
    name: letters(name),
    size: size === null ? null : count(size),
    files: count(files),
    modified: modified === null ? null : letters(modified),
    type: letters(type),
  };
}

export function readHave(said: unknown): Have | null {
  const { have } = fieldsOf(said);
  if (have === null) return null;
  const { chunk, chunks, digest } = fieldsOf(have);
  return { chunk: chunkBytes(chunk), chunks: count(chunks), digest: digestBytes(digest) };
}

/** How many bytes in how many files. The bytes of a pipe are not known. */
export type Sum = { size: number | null; files: number };

export function readAgreement(said: unknown): {
  length: number | null;
  chunk: number;
  first: number;
  commit: string;
  sum: Sum | null;
} {
  const { length, chunk, first, commit, sum } = fieldsOf(said);
  const agreement = {
    length: length === null ? null : count(length),
    chunk: chunkBytes(chunk),
    first: count(first),
    commit: letters(commit),
    sum: sum === undefined || sum === null ? null : readSum(sum),
  };
  if (agreement.length !== null && agreement.first * agreement.chunk > agreement.length) {
    throw new Tampered('It begins behind its end.');
  }
  return agreement;
}

function readSum(said: unknown): Sum {
  const { size, files } = fieldsOf(said);
  return { size: size === null ? null : count(size), files: count(files) };
}

function fieldsOf(said: unknown): Said {
  if (typeof said !== 'object' || said === null || Array.isArray(said))
    throw new Tampered('Fields are missing.');
  return said as Said;
}

function letters(value: unknown): string {
  if (typeof value !== 'string') throw new Tampered('A text is missing.');
  return value;
}

function count(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Tampered('A number is missing.');
  return value as number;
}

function chunkBytes(value: unknown): number {
  const bytes = count(value);
  if (bytes < 1 || bytes > MOST_CHUNK_BYTES) throw new Tampered('Chunks have no such length.');
  return bytes;
}

function digestBytes(value: unknown): Bytes {
  const digest = fromBase64(letters(value));
  if (digest.length !== 32) throw new Tampered('A digest has 32 bytes.');
  return digest;
}
