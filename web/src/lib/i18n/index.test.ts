import { describe, expect, it } from 'vitest';
import { ago, duration, preferredLocale, size, varietyOf } from './index.svelte';

describe('the language of a new visitor', () => {
  it.each([
    [null, ['de-DE', 'ja-JP', 'en'], 'ja'],
    [null, ['zh-TW'], 'zh-Hant'],
    [null, ['zh-Hans-CN', 'en'], 'zh-Hant'],
    [null, ['en-US'], 'en'],
    [null, ['fr'], 'en'],
    [null, [], 'en'],
    ['ja', ['en'], 'ja'],
    ['klingon', ['zh-HK'], 'zh-Hant'],
  ])('with %s chosen and %j wanted is %s', (chosen, wanted, spoken) => {
    expect(preferredLocale(chosen, wanted)).toBe(spoken);
  });
});

describe('dates and numbers', () => {
  it.each([
    ['en', ['en-GB', 'en'], 'en-GB'],
    ['en', ['sv-SE', 'en-AU', 'en-US'], 'en-AU'],
    ['en', ['sv-SE'], 'en'],
    ['zh-Hant', ['zh-HK', 'zh'], 'zh-HK'],
    ['zh-Hant', ['zh-CN', 'zh-TW'], 'zh-TW'],
    ['ja', ['en-US@posix', 'ja-JP'], 'ja-JP'],
  ] as const)('in %s for a browser that wants %j are written as in %s', (spoken, wanted, variety) => {
    expect(varietyOf(spoken, wanted)).toBe(variety);
  });
});

describe('sizes', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [999, '999 bytes'],
    [1000, '1 kB'],
    [1_549_000, '1.5 MB'],
    [5_000_000_000, '5 GB'],
    [7e15, '7,000 TB'],
  ])('%d bytes are %s', (bytes, written) => {
    expect(size(bytes)).toBe(written);
  });
});

describe('durations', () => {
  it.each([
    [0, '0 sec'],
    [59.6, '1 min'],
    [61, '1 min 1 sec'],
    [3600, '1 hr'],
    [7384, '2 hr 3 min'],
    [-5, '0 sec'],
  ])('%d seconds are %s', (seconds, written) => {
    expect(duration(seconds)).toBe(written);
  });
});

describe('moments', () => {
  const now = Date.parse('2026-05-05T12:00:00Z');
  it.each([
    ['2026-05-05T11:59:31Z', 'now'],
    ['2026-05-05T11:00:00Z', '1 hour ago'],
    ['2026-05-04T12:00:00Z', 'yesterday'],
    ['2026-05-19T11:00:00Z', 'in 14 days'],
  ])('%s is %s', (moment, told) => {
    expect(ago(moment, now)).toBe(told);
  });
});
