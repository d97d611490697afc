// What a grid and a viewer show: sections of photos that are loaded when somebody looks at them.
import type { Problem } from '$lib/api/problems';
import type { Photo } from './photo';
import type { Section } from './sections';

export type PhotoSource = {
  /** Undefined until it is known what there is. */
  readonly sections: readonly Section[] | undefined;
  readonly problem: Problem | undefined;
  /** The photos of a section, if they are loaded. */
  photosOf(section: Section): readonly Photo[] | undefined;
  /** Load these sections, if they are not; somebody looks at them. */
  need(sections: readonly Section[]): void;
  /** The photos that are loaded and follow each other around this one. */
  around(photo: Photo): readonly Photo[];
  /** Show it with these changes. */
  change(ids: ReadonlySet<string>, change: Partial<Photo>): void;
  /** Do not show these any more. */
  drop(ids: ReadonlySet<string>): void;
  /** Read again what there is. */
  refresh(): Promise<void>;
};
