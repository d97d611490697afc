import { expect, test } from 'vitest';
import { secondsOf } from './clockShift';

const NOTHING = { days: '', hours: '', minutes: '', seconds: '' };

test('an amount is added up, one way or the other', () => {
  expect(secondsOf('later', { ...NOTHING, days: '1', hours: '2', seconds: '5' })).toBe(93_605);
  expect(secondsOf('earlier', { ...NOTHING, minutes: '90' })).toBe(-5400);
  expect(secondsOf('later', NOTHING)).toBe(0);
});

test('what is no whole number is no amount', () => {
  expect(secondsOf('later', { ...NOTHING, hours: '-1' })).toBeUndefined();
  expect(secondsOf('later', { ...NOTHING, hours: '1.5' })).toBeUndefined();
});
