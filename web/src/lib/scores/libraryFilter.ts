// Finding scores among those that are listed: by words of title, composer and tags, and by one tag.
import { matches } from '$lib/shell/match';

type Findable = { title: string; composer: string; tags: string[] };

/** Those that have every word. */
export function found<Score extends Findable>(scores: readonly Score[], words: string, tag = ''): Score[] {
  return scores.filter(
    ({ title, composer, tags }) =>
      (!tag || tags.includes(tag)) && matches([title, composer, ...tags].join(' '), words),
  );
}

/** All tags, the most used first. */
export function tagsOf(scores: readonly Pick<Findable, 'tags'>[]): string[] {
  const counts = new Map<string, number>();
  for (const tag of scores.flatMap(({ tags }) => tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort(([one, a], [other, b]) => b - a || one.localeCompare(other)).map(([tag]) => tag);
}
