import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { kindsShown, labelled, lineThrough, scalesOf, stacked, type Bar } from './bars';
import { calendarSpan, cellAt, levelOf, monthMarks, stepsOf, WEEKS } from './calendar';
import { people } from './captions';
import { stepped, THROUGH_BARS, THROUGH_WEEKS } from './chartKeys';
import { compare } from './comparison';
import { dayPlus, daysOf, isDay, lengthOf, monthPlus, monthsOf, weekdayOf } from './days';
import { Periods } from './periods.svelte';
import type { Figures } from './stats';
import { Throttle } from '$lib/shell/throttle';
import { isScope, thingKindOf } from './title';
import { MOST_DAYS, searchWith, spanOf, viewIn, zoneIn } from './view';

const NOTHING: Figures = { clicks: 0, people: 0, open: 0, view: 0, download: 0, upload: 0, press: 0 };

function figures(some: Partial<Figures>): Figures {
  return { ...NOTHING, ...some };
}

function view(search: string, today = '2025-10-31') {
  return viewIn(new URLSearchParams(search), today);
}

describe('days', () => {
  it.each([
    ['2025-10-25', 1, '2025-10-26'],
    ['2025-10-26', 1, '2025-10-27'], // clocks are turned back on this one in Europe
    ['2024-02-28', 1, '2024-02-29'],
    ['2025-12-31', 1, '2026-01-01'],
    ['2025-03-01', -1, '2025-02-28'],
  ])('%s and %i more are %s', (day, more, later) => {
    expect(dayPlus(day, more)).toBe(later);
  });

  it('are counted with the first and the last', () => {
    const span = { first: '2025-02-27', last: '2025-03-02' };
    expect(lengthOf(span)).toBe(4);
    expect(daysOf(span)).toEqual(['2025-02-27', '2025-02-28', '2025-03-01', '2025-03-02']);
  });

  it('lie in months, which go on over the turn of the year', () => {
    expect(monthPlus('2025-11', 3)).toBe('2026-02');
    expect(monthPlus('2025-01', -11)).toBe('2024-02');
    expect(monthsOf({ first: '2025-11-30', last: '2026-01-01' })).toEqual(['2025-11', '2025-12', '2026-01']);
  });

  it('have weekdays from Monday, 1, to Sunday, 7', () => {
    expect(['2025-10-06', '2025-10-12'].map(weekdayOf)).toEqual([1, 7]);
  });

  it.each([
    ['2025-10-02', true],
    ['2025-02-30', false],
    ['2025-13-01', false],
    ['2025-1-1', false],
    ['yesterday', false],
    [null, false],
  ])('%s is one: %s', (written, right) => {
    expect(isDay(written)).toBe(right);
  });
});

describe('what is looked at', () => {
  it('is the last 30 days, today being one of them', () => {
    expect(view('')).toEqual({
      preset: '30',
      span: { first: '2025-10-02', last: '2025-10-31' },
      by: 'day',
      shown: 'all',
    });
  });

  it('is a year of whole months, by month unless days are asked for', () => {
    expect(view('range=12m')).toMatchObject({
      span: { first: '2024-11-01', last: '2025-10-31' },
      by: 'month',
    });
    expect(view('range=12m&by=day').by).toBe('day');
    expect(lengthOf(spanOf('12m', '2024-12-31'))).toBeLessThanOrEqual(MOST_DAYS);
  });

  it('is any range from one day to another, but no day that is yet to come', () => {
    const found = view('from=2025-09-01&to=2026-01-01&show=download');
    expect(found).toEqual({
      preset: undefined,
      span: { first: '2025-09-01', last: '2025-10-31' },
      by: 'day',
      shown: 'download',
    });
  });

  it('is by month where there are more days than the server tells of at once', () => {
    expect(view('from=2020-01-01&to=2025-10-01&by=day').by).toBe('month');
  });

  it.each([
    'from=2025-10-09&to=2025-10-01',
    'from=x&to=y',
    'from=2025-10-01',
    'from=2030-01-01&to=2030-01-02',
  ])('with %s is what it is without', (search) => {
    expect(view(search).span).toEqual(view('').span);
  });

  it('changes by what is changed of the address alone', () => {
    const search = new URLSearchParams('zone=UTC&range=7');
    expect(searchWith(search, { range: null, from: '2025-01-01' })).toBe('?zone=UTC&from=2025-01-01');
  });

  it('is in the zone that is asked for if there is such a one', () => {
    expect(zoneIn(new URLSearchParams('zone=Asia/Kathmandu'))).toBe('Asia/Kathmandu');
    const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    expect(zoneIn(new URLSearchParams('zone=Mars/Olympus'))).toBe(own);
    expect(zoneIn(new URLSearchParams('zone=%2B05:45'))).toBe(own);
  });
});

describe('a scope', () => {
  it.each([
    ['mine', true],
    ['site', true],
    ['link:abc', true],
    ['thing:file:abc', true],
    ['thing:file', false],
    ['link:', false],
    ['yours', false],
  ])('is %s: %s', (written, right) => {
    expect(isScope(written)).toBe(right);
  });

  it('of a thing tells what kind of thing', () => {
    expect(thingKindOf('thing:file:abc')).toBe('file');
    expect(thingKindOf('link:abc')).toBeUndefined();
  });
});

describe('today so far', () => {
  it.each([
    [5, 3, 'more', 2],
    [3, 5, 'fewer', 2],
    [4, 4, 'same', 0],
    [0, 0, 'same', 0],
  ])('%i beside %i is %s by %i', (now, before, outcome, by) => {
    expect(compare(now, before)).toEqual({ outcome, by });
  });
});

describe('the calendar', () => {
  it.each([
    [1, '2024-10-28'],
    [7, '2024-10-27'],
  ])('begins, where weeks begin on day %i, on %s', (firstWeekday, first) => {
    const span = calendarSpan('2025-10-31', firstWeekday);
    expect(span).toEqual({ first, last: '2025-10-31' });
    expect(weekdayOf(first)).toBe(firstWeekday);
    expect(lengthOf(span)).toBeLessThanOrEqual(WEEKS * 7);
  });

  it('has today in its last week, whichever day it is', () => {
    for (const today of daysOf({ first: '2025-10-20', last: '2025-11-02' })) {
      const span = calendarSpan(today, 1);
      const cell = cellAt(lengthOf(span) - 1, span.first);
      expect(cell).toEqual({ day: today, week: WEEKS - 1, row: weekdayOf(today) - 1 });
    }
  });

  it('names each month above its first day', () => {
    const span = calendarSpan('2025-10-31', 1);
    const marks = monthMarks(daysOf(span).map((_, index) => cellAt(index, span.first)));
    expect(marks).toHaveLength(12);
    expect(marks[0]).toEqual({ week: 0, month: '2024-11' });
  });

  it('has as many days in each of its four steps as can be', () => {
    expect(stepsOf([0, 1, 2, 3, 4, 5, 6, 7, 8])).toEqual([1, 3, 5, 7]);
    expect([0, 1, 2, 3, 8, 900].map((number) => levelOf(number, [1, 3, 5, 7]))).toEqual([0, 1, 1, 2, 4, 4]);
  });

  it('needs fewer steps where numbers are few, and none without any', () => {
    expect(stepsOf([1, 1, 1, 1])).toEqual([1]);
    expect(stepsOf([1, 1, 1, 9])).toEqual([1, 2]);
    expect(stepsOf([0, 0])).toEqual([]);
    expect(levelOf(0, [])).toBe(0);
  });
});

describe('a bar', () => {
  it('is stacked of its kinds, those of nothing left out', () => {
    expect(stacked(figures({ open: 3, download: 2 }), ['open', 'view', 'download'])).toEqual([
      { kind: 'open', from: 0, to: 3 },
      { kind: 'download', from: 3, to: 5 },
    ]);
  });

  it('shows the kinds that there are, or the one that is asked for', () => {
    const bars: Bar[] = [{ period: '2025-10-01', figures: figures({ view: 1, press: 2 }) }];
    expect(kindsShown('all', bars)).toEqual(['view', 'press']);
    expect(kindsShown('upload', bars)).toEqual(['upload']);
  });

  it('stands between whole numbers, from nothing up to at least the highest', () => {
    const frame = { width: 400, height: 200, left: 40, right: 0, top: 10, bottom: 20 };
    for (const most of [0, 1, 2, 3, 7, 23, 1_000_003]) {
      const { y, ticks } = scalesOf([{ period: 'a', figures: figures({ open: most }) }], ['open'], frame);
      expect(ticks[0]).toBe(0);
      expect(ticks.every(Number.isInteger)).toBe(true);
      expect(ticks.length).toBeGreaterThan(1);
      expect(y(0)).toBe(180);
      expect(y(most)).toBeGreaterThanOrEqual(10);
    }
  });

  it('has its name under it if there is room, the newest always', () => {
    expect(labelled(7, 700, 60)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(labelled(7, 200, 60)).toEqual([0, 3, 6]);
    expect(labelled(30, 10, 60)).toEqual([29]);
  });

  it('has no line to it where the number is not known', () => {
    expect(lineThrough([{ x: 0, y: 1 }, { x: 1, y: 2 }, null, { x: 3, y: 4 }])).toBe('M0,1L1,2M3,4');
    expect(lineThrough([null])).toBe('');
  });
});

describe('how many people it was', () => {
  it.each([
    [7, false, '7'],
    [0, true, '0'],
    [null, true, '…'],
    [null, false, '–'],
  ])('if %s, and still being counted is %s, is written %s', (number, pending, written) => {
    expect(people(figures({ people: number }), pending)).toBe(written);
  });
});

describe('walking through a chart', () => {
  it.each([
    ['ArrowRight', 3, 4],
    ['ArrowLeft', 3, 2],
    ['ArrowRight', 9, 9],
    ['ArrowLeft', 0, 0],
    ['Home', 5, 0],
    ['End', 5, 9],
    ['a', 5, undefined],
    ['Tab', 5, undefined],
  ])('with %s leads from %i to %s', (key, at, to) => {
    expect(stepped(key, at, 9, THROUGH_BARS)).toBe(to);
  });

  it('goes up and down by days and sideways by weeks in a calendar', () => {
    expect(stepped('ArrowDown', 10, 370, THROUGH_WEEKS)).toBe(11);
    expect(stepped('ArrowLeft', 10, 370, THROUGH_WEEKS)).toBe(3);
    expect(stepped('ArrowLeft', 3, 370, THROUGH_WEEKS)).toBe(0);
  });
});

describe('what is asked for again and again', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is done at once, and then once more after a rest, however many have asked', async () => {
    let done = 0;
    const pace = new Throttle(async () => void (done += 1), 1000);
    for (let index = 0; index < 10; index += 1) pace.ask();
    expect(done).toBe(1);
    await vi.advanceTimersByTimeAsync(999);
    expect(done).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(done).toBe(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(done).toBe(2);
  });

  it('is not done any more when it was stopped', async () => {
    let done = 0;
    const pace = new Throttle(async () => void (done += 1), 1000);
    pace.ask();
    pace.ask();
    await vi.advanceTimersByTimeAsync(10);
    pace.stop();
    pace.ask();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(done).toBe(1);
  });
});

describe('days as far as somebody has looked', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  type Answer = { day: string; people: number | null };

  function periods(asked: string[], pendingTimes = 0): Periods<Answer> {
    let left = pendingTimes;
    return new Periods<Answer>({
      namesOf: daysOf,
      nameOf: ({ day }) => day,
      read: async (span) => {
        asked.push(`${span.first} ${span.last}`);
        const pending = left-- > 0;
        return { items: daysOf(span).map((day) => ({ day, people: pending ? null : 1 })), pending };
      },
    });
  }

  it('are asked for only where they are not known', async () => {
    const asked: string[] = [];
    const days = periods(asked);
    expect(days.of({ first: '2025-10-01', last: '2025-10-03' })).toBeUndefined();
    void days.cover({ first: '2025-10-01', last: '2025-10-03' });
    await days.cover({ first: '2025-10-02', last: '2025-10-03' });
    await days.cover({ first: '2025-10-02', last: '2025-10-05' });
    expect(asked).toEqual(['2025-10-01 2025-10-03', '2025-10-04 2025-10-05']);
    expect(days.of({ first: '2025-10-01', last: '2025-10-05' })).toHaveLength(5);
  });

  it('are asked for again while not all is known of them', async () => {
    const asked: string[] = [];
    const days = periods(asked, 2);
    const span = { first: '2025-10-01', last: '2025-10-01' };
    await days.cover(span);
    expect(days.pending).toBe(true);
    expect(days.of(span)).toEqual([{ day: '2025-10-01', people: null }]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toHaveLength(3);
    expect(days.pending).toBe(false);
    expect(days.of(span)).toEqual([{ day: '2025-10-01', people: 1 }]);
  });

  it('are left alone when nobody looks any more', async () => {
    const asked: string[] = [];
    const days = periods(asked, 9);
    await days.cover({ first: '2025-10-01', last: '2025-10-01' });
    days.end();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toHaveLength(1);
  });
});
