import { expect, test } from 'vitest';
import { scoreAddress } from './scoreAddress';

test('a link names a score by letters, and its page by a UUID', () => {
  const address = '/scores/742bdfdc-4203-45aa-bd71-bca716d26421';
  expect(scoreAddress('3N8rdANCqkW9cbynFtJkIQ')).toBe(address);
  expect(scoreAddress('3N8rdANCqkW9cbynFtJkIQ.p7')).toBe(address);
});
