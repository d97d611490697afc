import { describe, expect, it } from 'vitest';
import { placed } from './historyOrder';

type Line = { transfer_id: string; direction: 'sent' | 'received'; sent_at: string };

function line(at: number, direction: Line['direction'] = 'sent'): Line {
  return { transfer_id: `t${at}`, direction, sent_at: `2026-01-01T10:00:0${at}Z` };
}

function ids(lines: Line[]): string[] {
  return lines.map(({ transfer_id }) => transfer_id);
}

describe('a transfer that is heard of', () => {
  it('comes first if it is the newest', () => {
    expect(ids(placed([line(2), line(1)], line(3), 'all', false))).toEqual(['t3', 't2', 't1']);
  });

  it('takes the place of what was known of it', () => {
    const now = { ...line(2), direction: 'received' as const };
    expect(placed([line(3), line(2), line(1)], now, 'all', true)[1]).toBe(now);
  });

  it('does not come into the list of the other direction', () => {
    expect(ids(placed([line(1)], line(2, 'received'), 'sent', true))).toEqual(['t1']);
    expect(ids(placed([line(1)], line(2), 'sent', true))).toEqual(['t2', 't1']);
  });

  it('is left to the page on which it stands, if that is not read yet', () => {
    expect(ids(placed([line(3), line(2)], line(1), 'all', false))).toEqual(['t3', 't2']);
    expect(ids(placed([line(3), line(2)], line(1), 'all', true))).toEqual(['t3', 't2', 't1']);
  });
});
