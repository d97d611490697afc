import { describe, expect, it } from 'vitest';
import type { Receipt, State, Transfer } from '$lib/api/transfers';
import { canBeTaken, canBeWithdrawn, hasLanded, isUnopened, reached, summaryOf } from './receiptSteps';

const NOBODY = { offered: 0, shelved: 0, opened: 0, downloaded: 0, verified: 0, declined: 0, withdrawn: 0 };

function receipt(facts: Partial<Receipt> = {}): Receipt {
  return {
    person_id: 'bob',
    name: 'Bob',
    kind: 'member',
    state: 'offered',
    offered_at: '2026-01-01T10:00:00Z',
    opened_at: null,
    shelved_at: null,
    downloaded_at: null,
    verified_at: null,
    declined_at: null,
    answer: null,
    ...facts,
  };
}

function transfer(facts: Partial<Transfer>): Transfer {
  return {
    direction: 'received',
    state: 'offered',
    is_available: true,
    receipts: [receipt()],
    counts: { ...NOBODY, offered: 1 },
    ...facts,
  } as Transfer;
}

describe('how far it has come', () => {
  it.each<[State, number]>([
    ['offered', 1],
    ['shelved', 2],
    ['opened', 3],
    ['downloaded', 4],
    ['verified', 5],
    ['declined', 0],
    ['withdrawn', 0],
  ])('is %s: %d of five steps', (state, steps) => expect(reached(state)).toBe(steps));
});

describe('many receivers', () => {
  it.each([
    [
      { verified: 3, offered: 2 },
      { step: 'verified', count: 3, of: 5, declined: 0 },
    ],
    [
      { downloaded: 1, opened: 1 },
      { step: 'downloaded', count: 1, of: 2, declined: 0 },
    ],
    [
      { opened: 2, declined: 1 },
      { step: 'opened', count: 2, of: 3, declined: 1 },
    ],
    [
      { offered: 4, withdrawn: 1 },
      { step: 'offered', count: 4, of: 4, declined: 0 },
    ],
    [{}, { step: 'offered', count: 0, of: 0, declined: 0 }],
  ] as const)('%j are summed up by the furthest', (counts, summary) => {
    expect(summaryOf({ ...NOBODY, ...counts })).toEqual(summary);
  });
});

describe('a receiver', () => {
  it('can take what is there and neither declined nor withdrawn', () => {
    expect(canBeTaken(transfer({}))).toBe(true);
    expect(canBeTaken(transfer({ state: 'verified' }))).toBe(true);
    expect(canBeTaken(transfer({ is_available: false }))).toBe(false);
    expect(canBeTaken(transfer({ state: 'declined' }))).toBe(false);
    expect(canBeTaken(transfer({ direction: 'sent' }))).toBe(false);
  });

  it('has something new until it was opened, even if it lies on the shelf by then', () => {
    expect(isUnopened(transfer({}))).toBe(true);
    expect(isUnopened(transfer({ state: 'verified' }))).toBe(true);
    expect(isUnopened(transfer({ receipts: [receipt({ opened_at: '2026-01-01T11:00:00Z' })] }))).toBe(false);
    expect(isUnopened(transfer({ state: 'withdrawn' }))).toBe(false);
    expect(isUnopened(transfer({ direction: 'sent' }))).toBe(false);
  });

  it('did not fetch what arrived before it was opened', () => {
    const [early, late] = ['2026-01-01T10:00:00Z', '2026-01-01T11:00:00Z'];
    expect(hasLanded(receipt({ shelved_at: early }))).toBe(true);
    expect(hasLanded(receipt({ shelved_at: early, opened_at: late }))).toBe(true);
    expect(hasLanded(receipt({ shelved_at: late, opened_at: early }))).toBe(false);
    expect(hasLanded(receipt({ shelved_at: early, opened_at: early }))).toBe(false);
    expect(hasLanded(receipt())).toBe(false);
  });
});

describe('a sender', () => {
  it('can withdraw from those who have not taken it', () => {
    const sent = { direction: 'sent' as const };
    expect(canBeWithdrawn(transfer(sent))).toBe(true);
    const [verified, opened] = [receipt({ state: 'verified' }), receipt({ state: 'opened' })];
    expect(canBeWithdrawn(transfer({ ...sent, receipts: [verified, opened] }))).toBe(true);
    expect(canBeWithdrawn(transfer({ ...sent, receipts: [verified] }))).toBe(false);
    const shelved_at = '2026-01-01T10:00:00Z';
    expect(canBeWithdrawn(transfer({ ...sent, receipts: [receipt({ state: 'shelved', shelved_at })] }))).toBe(
      true,
    );
    expect(canBeWithdrawn(transfer({ ...sent, receipts: [{ ...opened, shelved_at }] }))).toBe(false);
    expect(canBeWithdrawn(transfer({}))).toBe(false);
  });
});
