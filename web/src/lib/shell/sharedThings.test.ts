import { describe, expect, it } from 'vitest';
import { fileOfText, joined } from './sharedThings';

function form(fields: Record<string, string>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.set(name, value);
  return made;
}

describe('what another app says', () => {
  it.each([
    [{ title: '', text: 'a & b # c 🎻', url: '' }, 'a & b # c 🎻'],
    [
      { title: 'News', text: 'https://example.org/?a=1&b=2#c', url: '' },
      'News\nhttps://example.org/?a=1&b=2#c',
    ],
    [{ title: 'News', text: '', url: 'https://example.org/' }, 'News\nhttps://example.org/'],
    [{ text: 'Look: https://example.org/', url: 'https://example.org/' }, 'Look: https://example.org/'],
    [{}, ''],
  ])('%j is %j', (fields, whole) => {
    expect(joined(form(fields as Record<string, string>))).toBe(whole);
  });

  it.each([
    ['Dear all\nsee you', 'Dear all.txt'],
    ['https://example.org/?a=1', 'https example.org a=1.txt'],
    ['🎻', '🎻.txt'],
    ['///', 'Text.txt'],
  ])('%j becomes the file %s', (text, name) => {
    expect(fileOfText(text, 'Text').name).toBe(name);
  });
});
