// A list of photos that comes in pages: an album, the bin, or the photos without a date.
import { Problem } from '$lib/api/problems';
import type { Photo } from './photo';
import type { PhotoPage } from './photoCalls';
import type { PhotoSource } from './photoSource';
import { partsOf, type Section } from './sections';

type Read = (cursor: string | null) => Promise<PhotoPage>;

export class PhotoPages implements PhotoSource {
  problem = $state.raw<Problem>();
  /** More may come. */
  loading = $state(true);
  #photos = $state.raw<readonly Photo[]>();
  #byDay: boolean;
  #read: Read;
  #attempt = 0;

  /** Whether there is a heading for each day, or no sections at all. */
  constructor(read: Read, { byDay }: { byDay: boolean }) {
    this.#read = read;
    this.#byDay = byDay;
    void this.refresh();
  }

  readonly #parts = $derived.by(() => partsOf(this.photos, this.#byDay));
  readonly sections = $derived(this.#photos && [...this.#parts.keys()]);

  get photos(): readonly Photo[] {
    return this.#photos ?? [];
  }

  /** All pages, one after the other: each is shown when it is there. */
  refresh = async (): Promise<void> => {
    const attempt = ++this.#attempt;
    const photos: Photo[] = [];
    let cursor: string | null = null;
    this.loading = true;
    try {
      do {
        const page: PhotoPage = await this.#read(cursor);
        if (attempt !== this.#attempt) return;
        photos.push(...page.photos);
        cursor = page.cursor;
        // What was there before stays until all of it has come again.
        if (cursor === null || photos.length > this.photos.length) this.#photos = [...photos];
      } while (cursor !== null);
      this.problem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (attempt === this.#attempt) this.problem = failure;
    }
    if (attempt === this.#attempt) this.loading = false;
  };

  /** Nobody looks at it any more. */
  stop(): void {
    this.#attempt += 1;
  }

  photosOf(section: Section): readonly Photo[] | undefined {
    return this.#parts.get(section);
  }

  need(): void {
    // Every page is loaded anyhow.
  }

  around(): readonly Photo[] {
    return this.photos;
  }

  change(ids: ReadonlySet<string>, change: Partial<Photo>): void {
    this.#photos = this.photos.map((photo) => (ids.has(photo.id) ? { ...photo, ...change } : photo));
  }

  drop(ids: ReadonlySet<string>): void {
    this.#photos = this.photos.filter(({ id }) => !ids.has(id));
  }
}
