import { describe, expect, it } from 'vitest';
import { sectionAt, topsOf } from './gridLayout';
import { cameraName, fromColumns, picturePath, USUAL_RATIO, type Photo } from './photo';
import { addDays, daysOf, lastDay, sectionsOf } from './sections';

function photo(id: string, time: string): Photo {
  return {
    owner: 'ann',
    id,
    time,
    type: 'IMAGE',
    shape: 1,
    ratio: 1,
    placeholder: '',
    version: '',
    durationMs: 0,
    favourite: false,
    pinned: false,
  };
}

describe('the sections of a grid', () => {
  it('put neighbouring days of one month together while they have few photos', () => {
    const days = [
      { day: '2025-08-02', count: 1 },
      { day: '2025-07-31', count: 2 },
      { day: '2025-07-30', count: 3 },
      { day: '2025-07-29', count: 40 },
      { day: '2025-07-28', count: 1 },
    ];
    expect(sectionsOf(days).map(({ from, to, count }) => [from, to, count])).toEqual([
      ['2025-08-02', '2025-08-02', 1],
      ['2025-07-30', '2025-07-31', 5],
      ['2025-07-29', '2025-07-29', 40],
      ['2025-07-28', '2025-07-28', 1],
    ]);
  });

  it('put days of several months of an album together, but not those without a date', () => {
    const days = [
      { day: '2025-04-06', count: 1 },
      { day: '2025-05-07', count: 1 },
      { day: '', count: 1 },
    ];
    expect(sectionsOf(days, 'album').map(({ from, to, count }) => [from, to, count])).toEqual([
      ['2025-04-06', '2025-05-07', 2],
      ['', '', 1],
    ]);
  });

  it('count the photos of each day in their order', () => {
    const photos = [
      photo('a', '2025-07-31T09:00:00.000'),
      photo('b', '2025-07-31T08:00:00.000'),
      photo('c', ''),
    ];
    expect(daysOf(photos)).toEqual([
      { day: '2025-07-31', count: 2 },
      { day: '', count: 1 },
    ]);
  });

  it('are found by their height, also at the ends', () => {
    const sections = sectionsOf(
      Array.from({ length: 12 }, (_, at) => ({
        day: `2025-${String(12 - at).padStart(2, '0')}-01`,
        count: 30,
      })),
    );
    const tops = topsOf(sections, () => undefined, { width: 900, rowPx: 200, headPx: 40 });
    expect(tops).toHaveLength(13);
    for (const at of [0, 5, 11]) {
      expect(sectionAt(tops, (tops[at] ?? 0) + 1)).toBe(at);
      expect(sectionAt(tops, (tops[at + 1] ?? 0) - 1)).toBe(at);
    }
    expect([sectionAt(tops, -500), sectionAt(tops, 1e9)]).toEqual([0, 11]);
  });
});

describe('the days of an album', () => {
  it('end on the day before an end at midnight', () => {
    expect(lastDay('2025-08-01T00:00:00')).toBe('2025-07-31');
    expect(lastDay('2025-08-01')).toBe('2025-07-31');
    expect(lastDay('2025-08-01T12:00:00')).toBe('2025-08-01');
  });

  it('are counted over months, whatever the time zone', () => {
    expect(addDays('2025-03-30', 2)).toBe('2025-04-01');
    expect(addDays('2024-02-28', 1)).toBe('2024-02-29');
  });
});

describe('a photo', () => {
  it('is read from columns', () => {
    const columns = {
      owners: ['ann'],
      ids: ['a'],
      times: ['2025-07-31T09:00:00.000'],
      types: ['IMAGE' as const],
      ratios: [1500],
      placeholders: ['hash'],
      durations_ms: [0],
      versions: ['v1'],
      favourites: [true],
      guessed: [false],
      pinned: [true],
      cursor: null,
    };
    const [photo] = fromColumns(columns);
    expect([photo?.owner, photo?.ratio, photo?.placeholder, photo?.pinned]).toEqual([
      'ann',
      1.5,
      'hash',
      true,
    ]);
    const [bare] = fromColumns({ ...columns, ratios: [0], placeholders: [null], versions: [null] });
    expect([bare?.ratio, bare?.placeholder, bare?.version]).toEqual([USUAL_RATIO, '', '']);
  });

  it('names the camera by its brand and its model', () => {
    expect(cameraName('NIKON CORPORATION', 'NIKON Z 6')).toBe('NIKON Z 6');
    expect(cameraName('SONY', 'ILCE-7M3')).toBe('SONY ILCE-7M3');
    expect([cameraName('Apple', ''), cameraName('', 'R5')]).toEqual(['Apple', 'R5']);
  });

  it('is shown by its picture, and never by itself in a grid', () => {
    const made = { owner: 'ann', id: 'a', version: 'v1' };
    expect(picturePath(made, 'grid')).toBe('/api/v1/photos/ann/a/picture/grid/v1');
    expect(picturePath({ ...made, version: '' }, 'grid')).toBeUndefined();
  });
});
