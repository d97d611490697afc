// Points on Curve25519: multiplication by WebCrypto's X25519, and the map from a hash by Elligator 2.
import type { Bytes } from './bytes';
import { BadShare } from './errors';

const PRIME = 2n ** 255n - 19n;
const A = 486662n;
const BASE_POINT = Uint8Array.of(9, ...new Uint8Array(31));

/** A private key that cannot be exported, not even by this page. */
export async function newPrivateKey(): Promise<CryptoKey> {
  const pair = (await crypto.subtle.generateKey('X25519', false, ['deriveBits'])) as CryptoKeyPair;
  return pair.privateKey;
}

export function publicKeyOf(privateKey: CryptoKey): Promise<Bytes> {
  return multiplied(privateKey, BASE_POINT);
}

/** `point` times the private key. Raises BadShare for a point of low order, for which every result is zero. */
export async function multiplied(privateKey: CryptoKey, point: Bytes): Promise<Bytes> {
  if (point.length !== 32) throw new BadShare('A point has 32 bytes.');
  const other = await crypto.subtle.importKey('raw', point, 'X25519', true, []);
  try {
    return new Uint8Array(await crypto.subtle.deriveBits({ name: 'X25519', public: other }, privateKey, 256));
  } catch (error) {
    // WebCrypto raises this instead of returning zero.
    if (error instanceof DOMException && error.name === 'OperationError') {
      throw new BadShare('This point gives no secret.', { cause: error });
    }
    throw error;
  }
}

/**
 * The point that Elligator 2 (RFC 9380, 6.7.1) finds for 32 bytes of a hash.
 *
 * BigInt does not take the same time for every number. It is used once for each knock, on the hash of a code with the
 * knock's own random id, so that measuring its time remotely tells nothing about the next knock.
 */
export function pointFor(hash: Bytes): Bytes {
  const r = fromLittleEndian(hash) & (2n ** 255n - 1n);
  // Never divides by zero: 2 is no square, and -1 is one.
  const x = mod(-A * power(mod(1n + 2n * r * r), PRIME - 2n));
  const isOnCurve = power(mod(x * (x * x + A * x + 1n)), (PRIME - 1n) / 2n) <= 1n;
  return toLittleEndian(isOnCurve ? x : mod(-x - A));
}

function mod(value: bigint): bigint {
  const rest = value % PRIME;
  return rest < 0n ? rest + PRIME : rest;
}

function power(value: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = value; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * square) % PRIME;
    square = (square * square) % PRIME;
  }
  return result;
}

function fromLittleEndian(bytes: Bytes): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function toLittleEndian(value: bigint): Bytes {
  return Uint8Array.from({ length: 32 }, (_, at) => Number((value >> BigInt(8 * at)) & 0xffn));
}

/** Why this browser cannot run the encryption, or null. Pages over plain http get no WebCrypto. */
export async function obstacle(): Promise<'insecure' | 'browser' | null> {
  if (!globalThis.isSecureContext || !crypto.subtle) return 'insecure';
  try {
    await newPrivateKey();
    return null;
  } catch {
    return 'browser';
  }
}
