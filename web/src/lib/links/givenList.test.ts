import { expect, test } from 'vitest';
import type { LinkView } from '$lib/api/links';
import { listed, type Filter, type Order } from './givenList';

function link(name: string, rest: Partial<LinkView> = {}): LinkView {
  return { name, opens: 0, state: 'active', expires_at: null, thing: { name }, ...rest } as LinkView;
}

const LINKS = [
  link('take 10', { opens: 2, expires_at: '2026-12-02T00:00:00Z' }),
  link('take 9', { opens: 7 }),
  link('old', { opens: 7, state: 'expired', expires_at: '2026-01-01T00:00:00Z' }),
  link('soon', { state: 'not-yet', expires_at: '2026-12-01T00:00:00Z' }),
  link('full', { state: 'used-up' }),
  link('no', { state: 'revoked' }),
];

function names(filter: Filter, order: Order): string[] {
  return listed(LINKS, filter, order, 'en').map(({ name }) => name);
}

test.each([
  ['newest', ['take 10', 'take 9', 'old', 'soon', 'full', 'no']],
  ['opened', ['take 9', 'old', 'take 10', 'soon', 'full', 'no']],
  ['ending', ['soon', 'take 10', 'take 9', 'old', 'full', 'no']],
  ['name', ['full', 'no', 'old', 'soon', 'take 9', 'take 10']],
] as const)('ordered by %s', (order, expected) => {
  expect(names('all', order)).toEqual(expected);
});

test.each([
  ['active', ['take 10', 'take 9']],
  ['waiting', ['soon']],
  ['ended', ['old', 'full']],
  ['revoked', ['no']],
  ['paused', []],
] as const)('those that are %s', (filter, expected) => {
  expect(names(filter, 'newest')).toEqual(expected);
});
