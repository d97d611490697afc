// The links that somebody has given, newest first, in pages; their figures are updated live.
import { Problem } from '$lib/api/client';
import { readLinks, type LinkView } from '$lib/api/links';
import { live } from '$lib/live/live.svelte';
import { PagedLoader } from '$lib/shell/loader.svelte';
import { renewed } from './linkDisplay';

export class GivenLinks {
  readonly pages = new PagedLoader<LinkView>(async (cursor) => {
    const { links, cursor: next } = await readLinks(cursor);
    return { items: links, cursor: next };
  });
  #looking = false;
  #again = false;

  /** Returns a function that ends it. */
  watch(): () => void {
    const ends = [
      live.on('stats.changed', () => void this.#look()),
      live.on('resync', () => void this.pages.restart()),
    ];
    return () => ends.forEach((end) => end());
  }

  /** One that has changed. */
  put(link: LinkView): void {
    this.pages.items = renewed(this.pages.items ?? [], [link]);
  }

  /** One that was made just now. */
  add(link: LinkView): void {
    const known = this.pages.items ?? [];
    if (!known.some(({ link_id }) => link_id === link.link_id)) this.pages.items = [link, ...known];
  }

  /** Events may come faster than answers: then one more read is enough. */
  async #look(): Promise<void> {
    this.#again = this.#looking;
    if (this.#looking) return;
    this.#looking = true;
    try {
      const { links } = await readLinks(null);
      this.pages.items = renewed(this.pages.items ?? [], links);
    } catch (problem) {
      // The figures are right again when the list is read the next time.
      if (!(problem instanceof Problem)) throw problem;
    } finally {
      this.#looking = false;
    }
    if (this.#again) await this.#look();
  }
}
