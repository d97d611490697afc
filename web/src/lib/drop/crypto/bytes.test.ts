import { describe, expect, it } from 'vitest';
import { fromBase64, fromHex, idBytes, isEqual, lvCat, newId, text, toBase64, toHex, u64 } from './bytes';
import { Tampered } from './errors';

describe('lengths before values', () => {
  it('are LEB128', () => {
    expect(toHex(lvCat(text('1234'), text('5'), text('')))).toBe('0431323334013500');
    expect(toHex(lvCat(new Uint8Array(128)).slice(0, 3))).toBe('800100');
    expect(toHex(lvCat(new Uint8Array(300)).slice(0, 3))).toBe('ac0200');
  });
});

describe('base64url', () => {
  it('comes back as it was, without any =', () => {
    for (let length = 0; length < 70; length++) {
      const bytes = crypto.getRandomValues(new Uint8Array(length));
      expect(toBase64(bytes)).toMatch(/^[\w-]*$/);
      expect(fromBase64(toBase64(bytes))).toEqual(bytes);
    }
  });

  it.each(['A', 'AA==', 'A+', 'A/', 'AB', 'AA A', 'é'])(
    'has one spelling only, which %s is not',
    (letters) => {
      expect(() => fromBase64(letters)).toThrow(Tampered);
    },
  );
});

describe('ids', () => {
  it('are 32 lower-case digits', () => {
    expect(newId()).toMatch(/^[0-9a-f]{32}$/);
    expect(idBytes(newId())).toHaveLength(16);
  });

  it.each(['', 'ab', 'A'.repeat(32), 'g'.repeat(32), 'a'.repeat(33)])('are not %s', (id) => {
    expect(() => idBytes(id)).toThrow(Tampered);
  });
});

it('tells equal bytes from others', () => {
  expect(isEqual(fromHex('00ff'), fromHex('00ff'))).toBe(true);
  expect(isEqual(fromHex('00ff'), fromHex('00fe'))).toBe(false);
  expect(isEqual(fromHex('00ff'), fromHex('00'))).toBe(false);
});

it('writes large numbers with the great digits first', () => {
  expect(toHex(u64(2 ** 40 + 1))).toBe('0000010000000001');
});
