// Finding scores among those that are listed: by words of title, composer and tags, and by one tag.

type Findable = { title: string; composer: string; tags: string[] };

/** Those that have every word; letters with and without marks are the same, so that "dvorak" finds Dvořák. */
export function found<Score extends Findable>(scores: readonly Score[], words: string, tag = ''): Score[] {
  const wanted = plain(words).split(/\s+/).filter(Boolean);
  return scores.filter((score) => {
    const text = plain([score.title, score.composer, ...score.tags].join(' '));
    return (!tag || score.tags.includes(tag)) && wanted.every((word) => text.includes(word));
  });
}

/** All tags, the most used first. */
export function tagsOf(scores: readonly Pick<Findable, 'tags'>[]): string[] {
  const counts = new Map<string, number>();
  for (const tag of scores.flatMap(({ tags }) => tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort(([one, a], [other, b]) => b - a || one.localeCompare(other)).map(([tag]) => tag);
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Diacritic}/gu, '')
    .toLowerCase();
}
