import { describe, expect, it } from 'vitest';
import { dayAfter, daysUntil, endOfDay, momentAfter } from '$lib/shell/expiry';
import { addressWith } from './addresses';
import { indexAfter } from './arrowKeys';
import { merged, orderOf, placed, without } from './order';
import { Selection } from './selection.svelte';

const IDS = ['a', 'b', 'c', 'd', 'e'];

function chosen(selection: Selection): string {
  return IDS.filter((id) => selection.has(id)).join('');
}

describe('a selection', () => {
  it('goes from the last one that was chosen to the next, in both directions', () => {
    const selection = new Selection();
    selection.only('c');
    selection.range(IDS, 'e');
    expect(chosen(selection)).toBe('cde');
    selection.range(IDS, 'b');
    expect(chosen(selection)).toBe('bc');
  });

  it('begins where the keyboard is when nothing was chosen, or what was is gone', () => {
    const selection = new Selection();
    selection.range(IDS, 'd', 'b');
    expect(chosen(selection)).toBe('bcd');
    selection.only('gone');
    selection.range(IDS, 'b', 'a');
    expect(chosen(selection)).toBe('ab');
  });

  it('lets go of what is not there any more', () => {
    const selection = new Selection();
    selection.all(IDS);
    selection.toggle('a');
    selection.keep(new Set(['a', 'b', 'c']));
    expect(chosen(selection)).toBe('bc');
    expect(selection.size).toBe(2);
  });
});

describe('arrow keys', () => {
  it('go up and down a list, and stop at its ends', () => {
    expect(indexAfter('ArrowDown', 0, 5, 1)).toBe(1);
    expect(indexAfter('ArrowDown', 4, 5, 1)).toBe(4);
    expect(indexAfter('ArrowUp', 0, 5, 1)).toBe(0);
    expect(indexAfter('End', 1, 5, 1)).toBe(4);
    expect(indexAfter('PageDown', 1, 5, 1)).toBe(4);
    expect(indexAfter('PageUp', 3, 5, 1)).toBe(0);
    expect(indexAfter('x', 0, 5, 1)).toBeUndefined();
  });

  it('go in four directions among tiles, and reach a last line that is shorter', () => {
    expect(indexAfter('ArrowRight', 1, 8, 3)).toBe(2);
    expect(indexAfter('ArrowDown', 1, 8, 3)).toBe(4);
    expect(indexAfter('ArrowUp', 4, 8, 3)).toBe(1);
    expect(indexAfter('ArrowUp', 1, 8, 3)).toBe(1);
    expect(indexAfter('ArrowDown', 5, 8, 3)).toBe(7);
    expect(indexAfter('ArrowDown', 7, 8, 3)).toBe(7);
  });
});

describe('the order', () => {
  const entry = (kind: 'file' | 'folder', name: string, created_at = '') => ({
    id: name,
    kind,
    name,
    created_at,
  });

  it('by name has folders first, and numbers as people count', () => {
    const names = ['file 2', 'file 10', 'Émile'].map((name) => entry('file', name));
    const sorted = [...names, entry('folder', 'z')].sort(orderOf('name'));
    expect(sorted.map(({ name }) => name)).toEqual(['z', 'Émile', 'file 2', 'file 10']);
  });

  it('puts what is new where it belongs, once', () => {
    const [old, young] = [entry('file', 'old', '2026-01-01'), entry('file', 'young', '2026-03-01')];
    const between = entry('file', 'between', '2026-02-01');
    const once = placed([young, old], between, orderOf('newest'));
    expect(placed(once, between, orderOf('newest')).map(({ name }) => name)).toEqual([
      'young',
      'between',
      'old',
    ]);
  });

  it('adds a page without what is there, and takes away what is gone', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ id }));
    if (!a || !b || !c) throw new Error('three were made');
    expect(merged([a, b], [b, c])).toEqual([a, b, c]);
    expect(without([a, b, c], [b])).toEqual([a, c]);
  });
});

describe('days left', () => {
  it('count the one that has begun, and never fall below none', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(daysUntil('2026-01-01T00:00:01Z', now)).toBe(1);
    expect(daysUntil('2026-01-03T00:00:00Z', now)).toBe(2);
    expect(daysUntil('2025-12-01T00:00:00Z', now)).toBe(0);
    expect(daysUntil(momentAfter(30, now), now)).toBe(30);
  });
});

describe('a day', () => {
  it('ends at its last second where the reader is, whatever the hour is now', () => {
    const late = new Date(2026, 1, 27, 23, 59).getTime();
    expect(dayAfter(0, late)).toBe('2026-02-27');
    expect(dayAfter(2, late)).toBe('2026-03-01');
    expect(Date.parse(endOfDay('2026-03-01'))).toBe(new Date(2026, 2, 1, 23, 59, 59).getTime());
  });
});

describe('an address', () => {
  it('changes one question and keeps the other', () => {
    const url = new URL('http://satchel.test/shelf/f1?q=two+words');
    expect(addressWith(url, 'view', 'x')).toBe('/shelf/f1?q=two+words&view=x');
    expect(addressWith(url, 'q', '')).toBe('/shelf/f1');
  });
});
