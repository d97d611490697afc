import { describe, expect, it } from 'vitest';
import { shownName } from './shownName';

describe('shownName', () => {
  it('shows a sign where a character would turn the reading direction around', () => {
    expect(shownName('photo\u202egpj.exe')).toBe('photo\ufffdgpj.exe');
    expect(shownName('a\u2067b\u2069\u200f.txt')).toBe('a\ufffdb\ufffd\ufffd.txt');
    expect(shownName('line\nbreak\u0085')).toBe('line\ufffdbreak\ufffd');
  });

  it('leaves names of all scripts alone', () => {
    for (const name of ['שלום.txt', 'مرحبا (1).pdf', '樂譜 ♪.pdf', 'e\u0301.txt', '👩‍👩‍👧.png']) {
      expect(shownName(name)).toBe(name);
    }
  });
});
