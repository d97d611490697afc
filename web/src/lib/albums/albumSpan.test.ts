import { expect, test } from 'vitest';
import { spanOf, typedOf } from './albumSpan';

test('an album of whole days is typed in days, both included', () => {
  const typed = typedOf('2025-07-10T00:00:00', '2025-07-21T00:00:00');
  expect(typed).toEqual({ first: '2025-07-10', last: '2025-07-20', exact: false });
  expect(spanOf(typed)).toEqual({ start: '2025-07-10', end: '2025-07-21' });
});

test('an album that begins in the afternoon keeps its hours, and even its seconds', () => {
  const before = { start: '2025-07-10T16:30:15', end: '2025-07-11T00:00:00' };
  const typed = typedOf(before.start, before.end);
  expect(typed).toEqual({ first: '2025-07-10T16:30', last: '2025-07-11T00:00', exact: true });
  expect(spanOf(typed, before)).toEqual(before);
  expect(spanOf({ ...typed, first: '2025-07-10T17:00' }, before)).toEqual({
    start: '2025-07-10T17:00',
    end: before.end,
  });
});

test('days become times and times become days', () => {
  const times = typedOf('2025-07-10', '2025-07-21', true);
  expect(times).toEqual({ first: '2025-07-10T00:00', last: '2025-07-21T00:00', exact: true });
  expect(typedOf('2025-07-10T16:30', '2025-07-20T18:00', false)).toEqual({
    first: '2025-07-10',
    last: '2025-07-20',
    exact: false,
  });
});

test('what is not complete is no span', () => {
  expect(typedOf('', '')).toEqual({ first: '', last: '', exact: false });
  expect(spanOf({ first: '2025-07-10', last: '', exact: false })).toBeUndefined();
});
