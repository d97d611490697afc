import { describe, expect, it } from 'vitest';
import { isOnlyHere } from './onlyHere';

describe('a link that only this machine can follow', () => {
  it.each([
    'http://127.0.0.1:8400/l/x',
    'http://localhost/join',
    'http://a.localhost:1/',
    'http://[::1]:8400/',
  ])('is %s', (link) => expect(isOnlyHere(link)).toBe(true));
  it.each([
    'http://192.168.1.5:8400/l/x',
    'https://satchel.example.org/',
    'http://127.example.org/',
    'not a link',
  ])('is not %s', (link) => expect(isOnlyHere(link)).toBe(false));
});
