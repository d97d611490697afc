import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Sha256 } from './sha256';

function text(letters: string): Uint8Array {
  return new TextEncoder().encode(letters);
}

describe('SHA-256', () => {
  // From FIPS 180-4's examples.
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
    ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('of %.20s is what the standard says', (letters, digest) => {
    expect(new Sha256().update(text(letters)).hex()).toBe(digest);
  });

  it('of every length around a block is what others compute', () => {
    for (let length = 0; length <= 200; length++) {
      const bytes = randomBytes(length);
      expect(new Sha256().update(bytes).hex()).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
  });

  it('does not depend on how the bytes are cut', () => {
    const bytes = randomBytes(10_000);
    const digest = createHash('sha256').update(bytes).digest('hex');
    for (const step of [1, 3, 63, 64, 65, 127, 1000]) {
      const hash = new Sha256();
      for (let at = 0; at < bytes.length; at += step) hash.update(bytes.subarray(at, at + step));
      expect(hash.hex()).toBe(digest);
    }
  });
});
