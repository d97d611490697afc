import { describe, expect, it } from 'vitest';
import vectors from '../../../../tests/vectors/links.json';
import { deviceName } from './deviceName';
import { matches } from './match';
import { nextPath } from './nextPath';
import { invitationLink, passwordResetLink, secretIn } from './secretLinks';

describe('where to go after signing in', () => {
  it.each([
    ['?next=%2Faccount%3Fa%3D1', '/account?a=1'],
    ['', '/'],
    ['?next=https%3A%2F%2Fevil.example', '/'],
    ['?next=%2F%2Fevil.example', '/'],
    ['?next=%2F%5Cevil.example', '/'],
    ['?next=javascript%3Aalert(1)', '/'],
    ['?next=', '/'],
    ['?next=%2F%09%2Fevil.example', '/'],
    ['?next=http%3A%2F%2F', '/'],
  ])('with %s is %s', (search, path) => {
    expect(nextPath(new URL(`https://satchel.test/sign-in${search}`))).toBe(path);
  });
});

describe('the secret in a link', () => {
  const makers: Record<string, typeof invitationLink> = {
    '/sign-up': invitationLink,
    '/reset': passwordResetLink,
  };

  it.each(vectors)(
    'is made and read as the command line does: $link',
    ({ page, secret, server, token, email, link }) => {
      expect(makers[page]?.(server, token, email)).toBe(link);
      expect(secretIn(new URL(link), 'email')).toBe(email ?? '');
      expect(secretIn(new URL(link), secret as 'invitation' | 'token')).toBe(token);
      expect(new URL(link).pathname).toBe(page);
    },
  );

  it('is not looked for where servers would see it', () => {
    expect(secretIn(new URL('https://satchel.example/reset?token=abc'), 'token')).toBe('');
  });
});

describe('the command palette', () => {
  it.each([
    ['Go to Account', 'acc', true],
    ['Go to Account', 'account go', true],
    ['Go to Account', 'shelf', false],
    ['Thème : clair', 'theme', true],
    ['前往帳號', '帳號', true],
    ['ｱカウント', 'アカ', true],
    ['アカウント', 'あか', true],
    ['anything', '', true],
  ])('finds %s by %s: %s', (name, wanted, found) => {
    expect(matches(name, wanted)).toBe(found);
  });
});

describe('the name of a device', () => {
  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0', 'Firefox · Linux'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1',
      'Safari · iPhone',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/139.0 Safari/537.36 Edg/139.0',
      'Edge · Windows',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/139.0 Mobile Safari/537.36',
      'Chrome · Android',
    ],
    ['satchel on the shop computer', 'satchel on the shop computer'],
    ['Mozilla/5.0', 'Mozilla/5.0'],
  ])('%s is %s', (described, name) => {
    expect(deviceName(described)).toBe(name);
  });
});
