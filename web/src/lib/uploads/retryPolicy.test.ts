import { describe, expect, it } from 'vitest';
import { refusedFile } from './failure';
import { delay, judge, mayPass, type Circumstances, type Trouble } from './retryPolicy';

const FRESH: Circumstances = { begun: true, smallestChunks: false, overriding: false, fruitless: 0 };

function satchel(status: number, slug = 'internal'): Trouble {
  return { kind: 'answer', method: 'PATCH', status, slug };
}

function proxy(status: number, method = 'PATCH'): Trouble {
  return { kind: 'answer', method, status, slug: 'proxy' };
}

describe('what Satchel answers', () => {
  it.each([
    [401, 'token-expired', 'signIn'],
    [404, 'upload-missing', 'anew'],
    [410, 'upload-ended', 'anew'],
    [409, 'upload-offset', 'retry'],
    [409, 'upload-taken-over', 'elsewhere'],
    [423, 'upload-busy', 'retry'],
    [429, 'too-many', 'retry'],
    [413, 'upload-too-large', 'fail'],
    [403, 'forbidden', 'fail'],
    [422, 'upload-destination', 'fail'],
    [500, 'internal', 'retry'],
    [503, 'unavailable', 'retry'],
    [507, 'out-of-space', 'fail'],
    [507, 'quota-reached', 'fail'],
    [507, 'photo-quota-reached', 'fail'],
    [507, 'scores-full', 'fail'],
  ])('%i %s means %s', (status, slug, verdict) => {
    expect(judge(satchel(status, slug), FRESH)).toBe(verdict);
  });

  it('cannot pass by itself where no space is left', () => {
    expect([401, 429, 500, 503].every((status) => mayPass(satchel(status)))).toBe(true);
    expect(mayPass(satchel(507, 'quota-reached'))).toBe(false);
  });

  it('is shown in the words of the server', () => {
    const detail = 'Your shelf is full. Delete something.';
    const { trouble, sentence } = refusedFile({ type: '/problems#quota-reached', status: 507, detail });
    expect([judge(trouble, FRESH), sentence]).toEqual(['fail', detail]);
  });

  it('does not begin anew what could not even begin', () => {
    expect(judge(satchel(404), { ...FRESH, begun: false })).toBe('fail');
  });
});

describe('what something on the way answers', () => {
  it.each([
    [413, 'smaller'],
    [405, 'override'],
    [501, 'override'],
    [502, 'retry'],
    [503, 'retry'],
    [504, 'retry'],
    [524, 'retry'],
    [511, 'fail'],
    [403, 'fail'],
    [404, 'fail'],
    [401, 'fail'],
    [200, 'fail'],
  ])('%i means %s', (status, verdict) => {
    expect(judge(proxy(status), FRESH)).toBe(verdict);
  });

  it('gives up when nothing is small enough', () => {
    expect(judge(proxy(413), { ...FRESH, smallestChunks: true })).toBe('fail');
  });

  it('gives up when the other method does not pass either', () => {
    expect(judge(proxy(405), { ...FRESH, overriding: true })).toBe('fail');
  });

  it('does not change the method of what was no PATCH', () => {
    expect(judge(proxy(405, 'POST'), FRESH)).toBe('fail');
  });
});

describe('no answer', () => {
  it('is tried again', () => {
    expect(judge({ kind: 'silence', sending: true }, FRESH)).toBe('retry');
  });

  it('is tried with less at a time when that never brings it further', () => {
    expect(judge({ kind: 'silence', sending: true }, { ...FRESH, fruitless: 2 })).toBe('smaller');
    expect(judge({ kind: 'silence', sending: false }, { ...FRESH, fruitless: 9 })).toBe('retry');
  });
});

it('gives up on a file that cannot be read', () => {
  expect(judge({ kind: 'unreadable' }, FRESH)).toBe('fail');
});

describe('the delay', () => {
  it('grows and stays at a minute', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7, 100].map((n) => delay({ kind: 'silence', sending: false }, n));
    expect(delays).toEqual([1, 2, 4, 8, 15, 30, 60, 60, 60]);
  });

  it('is never shorter than what was asked for', () => {
    expect(delay({ ...satchel(429), retryAfter: 20 } as Trouble, 0)).toBe(20);
  });
});
