import { describe, expect, it } from 'vitest';
import { recall, remember } from './viewMemory';

function storage(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  } as Storage;
}

describe('the view of a score', () => {
  it('is remembered for each', () => {
    const kept = storage();
    remember(kept, 'a', { layout: 'half', zoom: 1.5, paper: 'night' });
    expect(recall(kept, 'a')).toEqual({ layout: 'half', zoom: 1.5, paper: 'night' });
    expect(recall(kept, 'b')).toEqual({ layout: 'single', zoom: 1, paper: 'white' });
  });

  it.each(['no json', 'null', '[]', '{"zoom":"9","layout":"x"}', '{"zoom":1e999}', '{"zoom":-4,"paper":7}'])(
    'is the usual one where %s is kept',
    (text) => {
      const kept = storage();
      kept.setItem('score-view:a', text);
      const { layout, paper, zoom } = recall(kept, 'a');
      expect([layout, paper]).toEqual(['single', 'white']);
      expect([1, 4]).toContain(zoom);
    },
  );

  it('is the usual one where nothing can be kept', () => {
    expect(recall(undefined, 'a').zoom).toBe(1);
    remember(undefined, 'a', { layout: 'half', zoom: 2, paper: 'white' });
  });
});
