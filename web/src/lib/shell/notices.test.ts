import { expect, test } from 'vitest';
import { isQuiet } from './notices.svelte';

function at(hours: number, minutes = 0): Date {
  return new Date(2026, 10, 19, hours, minutes);
}

test.each([
  ['22:00', '07:00', 23, true],
  ['22:00', '07:00', 6, true],
  ['22:00', '07:00', 7, false],
  ['22:00', '07:00', 12, false],
  ['12:00', '14:00', 13, true],
  ['12:00', '14:00', 14, false],
  ['08:00', '08:00', 8, false],
])('from %s to %s, at %i, it is quiet: %s', (from, to, hours, quiet) => {
  expect(isQuiet({ from, to }, at(hours))).toBe(quiet);
});

test('without quiet hours it never is', () => {
  expect(isQuiet(null, at(3))).toBe(false);
});
