// Writes and reads invitations: links, and spoken codes in any spelling that people use.
//
// Mirrors src/satchel/cli/drop/crypto/codes.py.
import { Unreadable } from './errors';
import { Secret } from './keys';
import { randomBytes } from './seal';
import words from './words.json';

/** What was given to join a session: a link with the secret, or a name with its code, which may still be missing. */
export type Invitation = { name: string; code: string | null; secret: Secret | null; server: string | null };

const DIGITS = 6;
const WORDS = 3;
const MOST_DIGITS_IN_A_NAME = 4;
const CODES = 10 ** DIGITS;

export function newCode(kind: 'digits' | 'words'): string {
  if (kind === 'words') return Array.from(randomBytes(WORDS), (byte) => words[byte]).join('-');
  // Rejection sampling: 2³² is no multiple of the number of codes, so numbers above the last one are drawn again.
  const fair = 2 ** 32 - (2 ** 32 % CODES);
  let drawn: number;
  do drawn = new DataView(randomBytes(4).buffer).getUint32(0);
  while (drawn >= fair);
  return String(drawn % CODES).padStart(DIGITS, '0');
}

/** The canonical spelling. A typing error that is found here (Unreadable) does not use up one of the three guesses. */
export function normalised(code: string): string {
  return joined(piecesOf(code));
}

export function spoken(name: string, code: string): string {
  return `${name}-${code}`;
}

/** Reads a link, or a name with or without its code. Raises Unreadable, and UnknownSuite for a link. */
export function readInvitation(said: string): Invitation {
  const trimmed = said.trim();
  return trimmed.includes('://') ? readLink(trimmed) : readSpoken(trimmed);
}

function readLink(link: string): Invitation {
  const address = URL.canParse(link) ? new URL(link) : null;
  const path = /^(.*)\/drop\/([a-z0-9-]+)\/?$/.exec(address?.pathname ?? '');
  if (!address || !path || !/^https?:$/.test(address.protocol))
    throw new Unreadable('This is no link to a drop.');
  const [, before, name] = path as unknown as [string, string, string];
  const secret = Secret.ofFragment(address.hash);
  return { name, code: null, secret, server: `${address.origin}${before}` };
}

function readSpoken(said: string): Invitation {
  const [first, second, third, ...rest] = piecesOf(said);
  if (!first || !second || !third || isNumber(first) || isNumber(second) || !isNumber(third)) {
    throw new Unreadable('A code begins with the two words and the number of its session.');
  }
  const isInOneGo = rest.length === 0 && third.length > MOST_DIGITS_IN_A_NAME;
  const number = isInOneGo ? third.slice(0, -DIGITS) : third;
  const code = isInOneGo ? [third.slice(-DIGITS)] : rest;
  if (number.length < 1 || number.length > MOST_DIGITS_IN_A_NAME) {
    throw new Unreadable('Behind the name of the session there are six digits or three words.');
  }
  const name = [first, second, number].join('-');
  return { name, code: code.length ? joined(code) : null, secret: null, server: null };
}

/** The words and numbers in the text, without any separators. */
function piecesOf(said: string): string[] {
  return (
    said
      .normalize('NFKC')
      .toLowerCase()
      .match(/[a-z]+|[0-9]+/g) ?? []
  );
}

function joined(pieces: string[]): string {
  if (pieces.every(isNumber)) {
    const digits = pieces.join('');
    if (digits.length !== DIGITS) throw new Unreadable('A code has six digits or three words.');
    return digits;
  }
  const unknown = pieces.find((piece) => !words.includes(piece));
  if (unknown) throw new Unreadable(`${unknown} is not a word of any code.`);
  if (pieces.length !== WORDS) throw new Unreadable('A code has six digits or three words.');
  return pieces.join('-');
}

function isNumber(piece: string): boolean {
  return /^[0-9]+$/.test(piece);
}
