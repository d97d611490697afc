// What others have marked since somebody looked last, counted by page and author.
import type { News, Score } from './scoreCalls';

export type NewsLine = { key: string; pageId: number; page: number; name: string; count: number };

/** In the order of the pages. Marks on pages that are not there are left out. */
export function newsLines(
  { pages, layers }: Pick<Score, 'pages' | 'layers'>,
  marks: News['marks'],
): NewsLine[] {
  const lines = new Map<string, NewsLine>();
  for (const { page_id, layer_id } of marks) {
    const at = pages.findIndex((page) => page.page_id === page_id);
    if (at < 0) continue;
    const name = layers.find((layer) => layer.layer_id === layer_id)?.author_name ?? '';
    const key = `${page_id} ${name}`;
    const line = lines.get(key) ?? { key, pageId: page_id, page: at + 1, name, count: 0 };
    lines.set(key, { ...line, count: line.count + 1 });
  }
  return [...lines.values()].sort((one, other) => one.page - other.page);
}
