// The timeline of everything: the days are known at once, their photos are loaded where somebody looks.
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { Problem } from '$lib/api/problems';
import { session } from '$lib/shell/session.svelte';
import { dayOf, type Photo } from './photo';
import { readDays, readPhotos } from './photoCalls';
import type { PhotoSource } from './photoSource';
import { sectionsOf, type Section } from './sections';

// So many photos come with one request, if they are next to what is needed.
const BUCKET = 400;
// So many photos stay in memory; those loaded longest ago go first.
const MOST_KEPT = 6000;

export class PhotoTimeline implements PhotoSource {
  sections = $state.raw<readonly Section[]>();
  problem = $state.raw<Problem>();
  /** By the key of the section, in the order in which they were loaded. */
  readonly #photos = new SvelteMap<string, readonly Photo[]>();
  readonly #loading = new SvelteSet<string>();
  /** What may have changed since it was loaded. It is shown until it is loaded again. */
  readonly #stale = new SvelteSet<string>();
  #renewals = 0;

  readonly #shared: boolean;

  /** With `shared`, together with what others share with whoever looks. */
  constructor({ shared }: { shared: boolean }) {
    this.#shared = shared;
    void this.refresh();
  }

  /** Somebody has changed something: read again what there is, and then what is in sight. */
  async renew(): Promise<void> {
    this.#renewals += 1;
    for (const key of this.#photos.keys()) this.#stale.add(key);
    await this.refresh();
  }

  async refresh(): Promise<void> {
    try {
      const sections = sectionsOf(await readDays(this.#shared));
      this.#keepShowing(sections);
      // One whose days and count are the same has the same photos, unless some were dropped from it meanwhile.
      const counts = Object.fromEntries(sections.map(({ key, count }) => [key, count]));
      for (const [key, photos] of [...this.#photos])
        if (counts[key] !== photos.length && !(key in counts && this.#stale.has(key))) this.#forget(key);
      this.sections = sections;
      this.problem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.problem = failure;
    }
  }

  /** Days that have got more photos, or fewer, show those that are known until the others are there. */
  #keepShowing(sections: readonly Section[]): void {
    const known: Partial<Record<string, readonly Photo[]>> = Object.fromEntries(
      [...this.#photos].map(([key, photos]) => [daysOfKey(key), photos]),
    );
    for (const { key } of sections) {
      const photos = known[daysOfKey(key)];
      if (!photos || this.#photos.has(key)) continue;
      this.#photos.set(key, photos);
      this.#stale.add(key);
    }
  }

  photosOf({ key }: Section): readonly Photo[] | undefined {
    return this.#photos.get(key);
  }

  need(sections: readonly Section[]): void {
    for (const section of sections) {
      if (this.#isWanted(section)) void this.#load(this.#bucketAround(section));
    }
    this.#forgetOld(sections);
  }

  around(photo: Photo): readonly Photo[] {
    const sections = this.sections ?? [];
    const at = sections.findIndex((section) => this.photosOf(section)?.some(({ id }) => id === photo.id));
    if (at < 0) return [photo];
    let [first, last] = [at, at];
    while (first > 0 && this.#photos.has(sections[first - 1]?.key ?? '')) first--;
    while (last < sections.length - 1 && this.#photos.has(sections[last + 1]?.key ?? '')) last++;
    const beside = [sections[first - 1], sections[last + 1]].filter((each) => each !== undefined);
    const near = this.photosOf(sections[at] as Section) ?? [];
    const isAtEdge = at - first < 2 || last - at < 2 || near.length < 3;
    if (isAtEdge) queueMicrotask(() => this.need(beside));
    return sections.slice(first, last + 1).flatMap((section) => this.photosOf(section) ?? []);
  }

  change(ids: ReadonlySet<string>, change: Partial<Photo>): void {
    this.#replace(ids, (photos) =>
      photos.map((photo) => (ids.has(photo.id) ? { ...photo, ...change } : photo)),
    );
  }

  drop(ids: ReadonlySet<string>): void {
    this.#replace(ids, (photos) => photos.filter(({ id }) => !ids.has(id)));
    this.sections = this.sections?.filter(({ key }) => this.#photos.get(key)?.length !== 0);
  }

  /** Sections without any of them stay the same objects, and are not laid out again. */
  #replace(ids: ReadonlySet<string>, changed: (photos: readonly Photo[]) => readonly Photo[]): void {
    for (const [key, photos] of this.#photos)
      if (photos.some(({ id }) => ids.has(id))) this.#photos.set(key, changed(photos));
  }

  #isWanted({ key }: Section): boolean {
    return (!this.#photos.has(key) || this.#stale.has(key)) && !this.#loading.has(key);
  }

  /** The section and its neighbours, the older ones first: most people scroll that way. */
  #bucketAround(section: Section): Section[] {
    const sections = this.sections ?? [];
    const at = sections.indexOf(section);
    const bucket = [section];
    let { count } = section;
    for (let next = at + 1; next < sections.length && count < BUCKET; next++) {
      const other = sections[next];
      if (!other || !this.#isWanted(other)) break;
      bucket.push(other);
      count += other.count;
    }
    return bucket;
  }

  async #load(bucket: Section[]): Promise<void> {
    const [newest, oldest] = [bucket[0], bucket.at(-1)];
    if (!newest || !oldest) return;
    for (const { key } of bucket) this.#loading.add(key);
    const renewals = this.#renewals;
    try {
      const found = await readPhotos(oldest.from, newest.to, this.#shared);
      const photos = found.map((photo) => ({ ...photo, foreign: photo.owner !== session.personId }));
      for (const { key, from, to } of bucket) {
        this.#photos.set(
          key,
          photos.filter((photo) => from <= dayOf(photo) && dayOf(photo) <= to),
        );
        if (renewals === this.#renewals) this.#stale.delete(key);
      }
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.problem = failure;
    } finally {
      for (const { key } of bucket) this.#loading.delete(key);
    }
  }

  #forgetOld(needed: readonly Section[]): void {
    let kept = 0;
    for (const photos of this.#photos.values()) kept += photos.length;
    if (kept <= MOST_KEPT) return;
    const seen = needed.map(({ key }) => key);
    for (const [key, photos] of [...this.#photos]) {
      if (kept <= MOST_KEPT / 2) return;
      if (seen.includes(key)) continue;
      this.#forget(key);
      kept -= photos.length;
    }
  }

  #forget(key: string): void {
    this.#photos.delete(key);
    this.#stale.delete(key);
  }
}

/** The key of a section without its count. */
function daysOfKey(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}
