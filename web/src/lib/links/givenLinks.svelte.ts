// The links that one has given, newest first, in pages; what is counted of them moves while one looks.
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

  /** Until the function that is given back is called. */
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

  /** News come faster than answers when many open a link: then one more look is enough. */
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
