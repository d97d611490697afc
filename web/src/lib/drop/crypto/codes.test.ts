import { describe, expect, it } from 'vitest';
import { toHex } from './bytes';
import { newCode, normalised, readInvitation, spoken } from './codes';
import { UnknownSuite, Unreadable } from './errors';
import { Secret } from './keys';
import { vectors } from './testVectors';
import words from './words.json';

const { drop } = vectors;

describe('a code', () => {
  it('is six digits, or three words of the list', () => {
    for (let times = 0; times < 100; times++) {
      expect(newCode('digits')).toMatch(/^[0-9]{6}$/);
      expect(
        newCode('words')
          .split('-')
          .every((word) => words.includes(word)),
      ).toBe(true);
      expect(normalised(newCode('words')).split('-')).toHaveLength(3);
    }
    expect(new Set(words)).toHaveLength(256);
  });

  it.each(drop.codes)('typed as "$typed" is $normalised', ({ typed, normalised: right }) => {
    expect(normalised(typed)).toBe(right);
  });

  it.each(drop.refused_codes)('is not "%s"', (typed) => {
    expect(() => normalised(typed)).toThrow(Unreadable);
  });

  it.each(drop.spoken)('is said behind the name: $spoken', ({ name, code, spoken: right }) => {
    expect(spoken(name, code)).toBe(right);
  });
});

describe('an invitation', () => {
  it.each(drop.invitations)('is "$typed"', ({ typed, name, code, secret, server }) => {
    const read = readInvitation(typed);
    expect({ ...read, secret: read.secret && toHex(read.secret.bytes) }).toEqual({
      name,
      code,
      secret,
      server,
    });
  });

  it.each(drop.refused_invitations)('is not "%s"', (typed) => {
    expect(() => readInvitation(typed)).toThrow(/./);
  });

  it('is refused as of another age if its suite is unknown', () => {
    expect(() =>
      readInvitation('https://satchel.example/drop/amber-otter-27#AwABAgMEBQYHCAkKCwwNDg8'),
    ).toThrow(UnknownSuite);
  });

  it('is read again from the link that was made', () => {
    const secret = Secret.draw();
    const read = readInvitation(`https://satchel.example/drop/amber-otter-27#${secret.fragment}`);
    expect(read.secret?.fragment).toBe(secret.fragment);
    expect(read).toMatchObject({ name: 'amber-otter-27', code: null, server: 'https://satchel.example' });
  });
});
