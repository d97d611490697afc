// Encodings of bytes in the drop protocol: concatenation, lengths, base64url and hexadecimal.
import { Tampered } from './errors';

/** Bytes for WebCrypto, which must not be in memory that other threads share. */
export type Bytes = Uint8Array<ArrayBuffer>;

const ID_BYTES = 16;

export function text(letters: string): Bytes {
  return new TextEncoder().encode(letters);
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Each part after its length in LEB128, so that no two lists of parts give the same bytes. */
export function lvCat(...parts: readonly Uint8Array[]): Bytes {
  return concat(...parts.flatMap((part) => [leb128(part.length), part]));
}

function leb128(value: number): Bytes {
  const groups: number[] = [];
  for (; value > 0x7f; value >>>= 7) groups.push((value & 0x7f) | 0x80);
  return Uint8Array.of(...groups, value);
}

export function u64(value: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** Compares in constant time, so that the time does not tell where two secrets differ. */
export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let differences = 0;
  one.forEach((byte, at) => (differences |= byte ^ (other[at] as number)));
  return differences === 0;
}

export function toBase64(bytes: Uint8Array): string {
  const letters = btoa(String.fromCharCode(...bytes));
  return letters.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

export function fromBase64(letters: string): Bytes {
  const bytes = /^[\w-]*$/.test(letters) ? decoded(letters) : null;
  // Unused bits at the end must be zero, so that the encoding is canonical.
  if (!bytes || toBase64(bytes) !== letters) throw new Tampered('This is no base64url.');
  return bytes;
}

function decoded(letters: string): Bytes | null {
  try {
    const binary = atob(letters.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function fromHex(digits: string): Bytes {
  if (!/^([0-9a-f]{2})*$/.test(digits)) throw new Tampered('These are no hexadecimal digits.');
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export function newId(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
}

/** The 16 bytes of an id, which computations use. */
export function idBytes(id: string): Bytes {
  const bytes = fromHex(id);
  if (bytes.length !== ID_BYTES) throw new Tampered('This is no id.');
  return bytes;
}
