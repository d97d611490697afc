import { describe, expect, it } from 'vitest';
import { fingerprintOf, placeOf, ResumeStore, type BrowserStorage, type Remembered } from './resumeStore';

class Drawer implements BrowserStorage {
  #items = new Map<string, string>();

  get length(): number {
    return this.#items.size;
  }

  key(index: number): string | null {
    return [...this.#items.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#items.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.#items.set(key, value);
  }

  removeItem(key: string): void {
    this.#items.delete(key);
  }
}

function upload(changes: Partial<Remembered> = {}): Remembered {
  return {
    fingerprint: 'f',
    owner: 'ann',
    place: 'shelf',
    uploadId: 'u1',
    name: 'film.mp4',
    sizeBytes: 10,
    since: '2026-01-01T00:00:00Z',
    ...changes,
  };
}

describe('memory', () => {
  it('finds what it kept, until it is told to forget', () => {
    const memory = new ResumeStore(new Drawer());
    memory.keep(upload());
    expect(memory.find('f')).toEqual(upload());
    memory.forget('f');
    expect(memory.find('f')).toBeUndefined();
  });

  it('shows a person only their own, for this place, newest first', () => {
    const memory = new ResumeStore(new Drawer());
    memory.keep(upload());
    memory.keep(upload({ fingerprint: 'g', since: '2026-02-01T00:00:00Z' }));
    memory.keep(upload({ fingerprint: 'h', owner: 'bob' }));
    memory.keep(upload({ fingerprint: 'i', place: 'albums' }));
    expect(memory.unfinished('ann', 'shelf').map(({ fingerprint }) => fingerprint)).toEqual(['g', 'f']);
  });

  it('is not disturbed by what others have written', () => {
    const drawer = new Drawer();
    drawer.setItem('theme', 'dark');
    drawer.setItem('upload:a', 'no json');
    drawer.setItem('upload:b', '{"name": 7}');
    drawer.setItem('upload:c', 'null');
    const memory = new ResumeStore(drawer);
    expect(memory.unfinished('ann', 'shelf')).toEqual([]);
    expect(memory.find('a')).toBeUndefined();
  });

  it('works without a place to write to, or without room in it', () => {
    const none = new ResumeStore(undefined);
    none.keep(upload());
    expect(none.unfinished('ann', 'shelf')).toEqual([]);
    const full = new Drawer();
    full.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    expect(() => new ResumeStore(full).keep(upload())).not.toThrow();
  });
});

describe('a fingerprint', () => {
  const file = new File(['x'], 'a.txt', { lastModified: 1 });
  const picked = { file, path: '' };

  it('is the same for the same file', () => {
    const again = { file: new File(['x'], 'a.txt', { lastModified: 1 }), path: '', details: { zone: 'UTC' } };
    expect(fingerprintOf('ann', 'shelf', picked)).toBe(fingerprintOf('ann', 'shelf', again));
  });

  it('is another for another person, place, folder, size or time, or for what it replaces', () => {
    const prints = [
      fingerprintOf('ann', 'shelf', picked),
      fingerprintOf('bob', 'shelf', picked),
      fingerprintOf('ann', 'albums', picked),
      fingerprintOf('ann', 'shelf', { file, path: 'trip/a.txt' }),
      fingerprintOf('ann', 'shelf', { file: new File(['xy'], 'a.txt', { lastModified: 1 }), path: '' }),
      fingerprintOf('ann', 'shelf', { file: new File(['x'], 'a.txt', { lastModified: 2 }), path: '' }),
      fingerprintOf('ann', 'shelf', { ...picked, details: { replaces: 'f1', replacedSha256: 'ab' } }),
      fingerprintOf('ann', 'shelf', { ...picked, details: { replaces: 'f1', replacedSha256: 'cd' } }),
      fingerprintOf('ann', 'shelf', { ...picked, details: { replaces: 'f2', replacedSha256: 'ab' } }),
    ];
    expect(new Set(prints).size).toBe(prints.length);
  });
});

describe('where an upload goes', () => {
  it.each([
    [{ destination: 'shelf', folder: 'root' }, 'shelf'],
    [{ destination: 'shelf', folder: 'f1' }, 'shelf/f1'],
    [{ destination: 'room', room: 'r1' }, 'room/r1'],
    [{ destination: 'room', room: 'r1', to: 'ben' }, 'room/r1/ben'],
  ])('is one text: %j', (whereto, place) => expect(placeOf(whereto)).toBe(place));
});
