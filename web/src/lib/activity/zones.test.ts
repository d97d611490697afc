import { expect, test } from 'vitest';
import { presentName, zoneNames } from './zones';

test('a zone has its present name', () => {
  expect(presentName('Asia/Calcutta')).toBe('Asia/Kolkata');
  expect(presentName('Europe/Berlin')).toBe('Europe/Berlin');
});

test('no zone is offered by a name that was given up, and every browser knows those that are', () => {
  const names = zoneNames();
  expect(names).toContain('Asia/Kolkata');
  expect(names).not.toContain('Asia/Calcutta');
  for (const timeZone of names) expect(() => new Intl.DateTimeFormat('en', { timeZone })).not.toThrow();
});
