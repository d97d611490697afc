import { describe, expect, it } from 'vitest';
import { found, tagsOf } from './libraryFilter';
import { splitTags } from './tags';

const SCORES = [
  { title: 'Cello Concerto', composer: 'Dvořák', tags: ['cello', 'orchestra'] },
  { title: '望春風', composer: '鄧雨賢', tags: ['choir'] },
  { title: 'Locus iste', composer: 'Bruckner', tags: ['choir', 'Latin'] },
];

describe('the library', () => {
  it.each([
    ['dvorak', ['Cello Concerto']],
    ['CHOIR latin', ['Locus iste']],
    ['春風', ['望春風']],
    ['concerto choir', []],
    ['  ', ['Cello Concerto', '望春風', 'Locus iste']],
  ])('finds %j', (words, titles) => expect(found(SCORES, words).map(({ title }) => title)).toEqual(titles));

  it('keeps to one tag', () => {
    expect(found(SCORES, '', 'choir').map(({ title }) => title)).toEqual(['望春風', 'Locus iste']);
    expect(tagsOf(SCORES)).toEqual(['choir', 'cello', 'Latin', 'orchestra']);
  });

  it('takes tags as people of three languages type them', () => {
    expect(splitTags(' choir, Latin,choir ,, 合唱、弦樂，春 ')).toEqual([
      'choir',
      'Latin',
      '合唱',
      '弦樂',
      '春',
    ]);
  });
});
