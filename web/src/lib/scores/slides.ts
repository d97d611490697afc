// The pages that are played, in their order: of one score, of one part of it, or of a whole set list.
import type { OpenScore } from './openScore.svelte';
import type { Jump, Page } from './scoreCalls';

/** One page on the stand. The same page may come several times. */
export type Slide = { key: string; open: OpenScore; page: Page; entry: number };
/** A place to go to, such as a movement or the next piece. */
export type Chapter = { name: string; at: number; notes?: string };

export function slidesOf(open: OpenScore, pages: readonly Page[], entry = 0): Slide[] {
  return pages.map((page, at) => ({ key: `${entry}-${at}-${page.page_id}`, open, page, entry }));
}

/** The movements of a score, as far as their pages are played. */
export function movementsOf(open: OpenScore, slides: readonly Slide[]): Chapter[] {
  return (open.score?.movements ?? []).flatMap(({ name, page_id }) => {
    const at = slides.findIndex(({ page }) => page.page_id === page_id);
    return at < 0 ? [] : [{ name, at }];
  });
}

/** Where a jump leads: the next time that its page comes in the same piece, else the first. */
export function landingOf(
  slides: readonly Slide[],
  from: number,
  jump: Pick<Jump, 'to_page_id'>,
): number | undefined {
  const entry = slides[from]?.entry;
  const fits = ({ page, entry: other }: Slide): boolean =>
    other === entry && page.page_id === jump.to_page_id;
  const later = slides.findIndex((slide, at) => at > from && fits(slide));
  const first = slides.findIndex(fits);
  // Back to a repeat is the common way; forward to the coda only if the page does not come before.
  if (first >= 0 && first <= from) return first;
  return later < 0 ? undefined : later;
}

/** The name of the last chapter that began. */
export function chapterAt(chapters: readonly Chapter[], at: number): Chapter | undefined {
  return chapters.reduce<Chapter | undefined>(
    (best, chapter) => (chapter.at <= at && (!best || chapter.at >= best.at) ? chapter : best),
    undefined,
  );
}

/** The pages that a set list plays of a score, in its order; all if it names none. Those that are gone are left out. */
export function chosenPages(pages: readonly Page[], pageIds: readonly number[]): readonly Page[] {
  if (!pageIds.length) return pages;
  return pageIds.flatMap((id) => pages.find(({ page_id }) => page_id === id) ?? []);
}
