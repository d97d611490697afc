// The cryptographic primitives, from WebCrypto: SHA-2, HMAC, HKDF and AES-256-GCM.
import { concat, text, type Bytes } from './bytes';
import { Tampered } from './errors';

export const NONCE_BYTES = 12;
// Padding, so that lengths of sealed texts tell little.
const PADDED_TO_BYTES = 256;
const SPACE = 0x20;

export function randomBytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length));
}

export function newNonce(): Bytes {
  return randomBytes(NONCE_BYTES);
}

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

export async function sha512(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-512', bytes));
}

export async function hkdf(key: Bytes, salt: Bytes, info: Bytes, length: number): Promise<Bytes> {
  const imported = await crypto.subtle.importKey('raw', key, 'HKDF', false, ['deriveBits']);
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt, info };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, imported, length * 8));
}

export function hmacKey(key: Bytes, hash: 'SHA-256' | 'SHA-512'): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['sign', 'verify']);
}

export async function hmac(key: CryptoKey, bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
}

export function isHmac(key: CryptoKey, tag: Bytes, bytes: Bytes): Promise<boolean> {
  return crypto.subtle.verify('HMAC', key, tag, bytes);
}

export function gcmKey(key: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

export async function encrypt(key: CryptoKey, iv: Bytes, aad: Bytes, plain: Bytes): Promise<Bytes> {
  const parameters = { name: 'AES-GCM', iv, additionalData: aad };
  return new Uint8Array(await crypto.subtle.encrypt(parameters, key, plain));
}

/** 16 bytes that nobody without the key could make for another text; much faster than a hash. */
export function gmac(key: CryptoKey, iv: Bytes, bytes: Bytes): Promise<Bytes> {
  return encrypt(key, iv, bytes, new Uint8Array());
}

export async function decrypt(key: CryptoKey, iv: Bytes, aad: Bytes, sealed: Bytes): Promise<Bytes> {
  try {
    const parameters = { name: 'AES-GCM', iv, additionalData: aad };
    return new Uint8Array(await crypto.subtle.decrypt(parameters, key, sealed));
  } catch (error) {
    throw new Tampered('This was not sealed by a member of the session.', { cause: error });
  }
}

/** Encrypts a value as JSON, bound to `aad` as associated data. */
export async function seal(key: CryptoKey, aad: Bytes, value: unknown, nonce = newNonce()): Promise<Bytes> {
  const json = text(JSON.stringify(value));
  const padded = new Uint8Array(Math.ceil(json.length / PADDED_TO_BYTES) * PADDED_TO_BYTES).fill(SPACE);
  padded.set(json);
  return concat(nonce, await encrypt(key, nonce, aad, padded));
}

export async function unseal(key: CryptoKey, aad: Bytes, sealed: Bytes): Promise<unknown> {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const plain = await decrypt(key, nonce, aad, sealed.subarray(NONCE_BYTES));
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(plain)) as unknown;
  } catch (error) {
    throw new Tampered('What was sealed is no JSON.', { cause: error });
  }
}
