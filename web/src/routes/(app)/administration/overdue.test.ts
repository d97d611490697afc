import { describe, expect, it } from 'vitest';
import { isOverdue } from './overdue';

describe('housekeeping', () => {
  const now = Date.parse('2026-01-01T12:00:00Z');

  it('is overdue once three rounds are missing, and not before', () => {
    expect(isOverdue('2026-01-01T09:00:00Z', 3600, now)).toBe(false);
    expect(isOverdue('2026-01-01T08:59:59Z', 3600, now)).toBe(true);
    expect(isOverdue('2026-01-01T11:59:00Z', 3600, now)).toBe(false);
  });
});
