// Helpers for tests with known results: fixed keys, and the vectors that the command line shares.
import cpace from '../../../../../tests/vectors/cpace.json';
import drop from '../../../../../tests/vectors/drop.json';
import { concat, fromHex, type Bytes } from './bytes';
import type { Stream } from './keys';
import { gcmKey, hmacKey } from './seal';

export const vectors = { cpace, drop };

// RFC 8410: the prefix of the 32 bytes of an X25519 key.
const PKCS8_HEADER = fromHex('302e020100300506032b656e04220420');

export function privateKey(hex: string): Promise<CryptoKey> {
  const bytes = concat(PKCS8_HEADER, fromHex(hex));
  return crypto.subtle.importKey('pkcs8', bytes, 'X25519', false, ['deriveBits']);
}

export async function streamOf(facts: {
  key: string;
  receipt_key: string;
  length: number | null;
  chunk: number;
  first: number;
}): Promise<Stream> {
  const { length, chunk, first } = facts;
  const receiptKey = await hmacKey(fromHex(facts.receipt_key), 'SHA-256');
  const key = await gcmKey(fromHex(facts.key));
  return { length, chunk, first, sum: null, key, receiptKey };
}

export function chunksOf(content: Bytes, chunk: number): Bytes[] {
  const count = Math.ceil(content.length / chunk);
  return Array.from({ length: count }, (_, at) => content.slice(at * chunk, (at + 1) * chunk));
}

/** The bytes as a stream, in pieces of this size. */
export function bodyOf(bytes: Bytes, piece = bytes.length || 1): ReadableStream<Bytes> {
  const pieces = chunksOf(bytes, piece);
  return new ReadableStream({
    pull(controller) {
      const next = pieces.shift();
      if (next) controller.enqueue(next);
      else controller.close();
    },
  });
}

export function flipped(bytes: Bytes, at: number): Bytes {
  const changed = bytes.slice();
  changed[at] = (changed[at] as number) ^ 1;
  return changed;
}
