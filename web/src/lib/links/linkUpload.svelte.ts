// Gives a link to files of this device: they are uploaded to the shelf first, into a folder of their own.
import { giveLink, type LinkView } from '$lib/api/links';
import { Problem } from '$lib/api/problems';
import type { Picked } from '$lib/files/pickedFiles';
import { momentAfter } from '$lib/shell/expiry';
import { whenArrived } from '$lib/uploads/arrival.svelte';
import { queue } from '$lib/uploads/queue.svelte';
import { makeSentFolder } from '$lib/uploads/sentFolder';
import type { Upload } from '$lib/uploads/upload.svelte';

type Target = { kind: 'file' | 'folder'; id: string };

export class LinkUpload {
  readonly names: string[];
  link = $state.raw<LinkView>();
  problem = $state.raw<Problem>();
  cancelled = $state(false);
  readonly #picked: readonly Picked[];
  /** How long the link is valid; undefined is until somebody ends it. */
  readonly #days: number | undefined;
  #uploads = $state.raw<Upload[]>([]);
  #target: Target | undefined;
  /** Found once: who tries again asks for the same link. */
  #end: string | null | undefined;

  constructor(picked: readonly Picked[], days?: number) {
    this.#picked = picked;
    this.#days = days;
    this.names = picked.map(({ file, path }) => path || file.name);
    void this.again();
  }

  /** How much of it is on the shelf. */
  readonly share = $derived.by(() => {
    const whole = this.#uploads.reduce((sum, { size }) => sum + size + 1, 0);
    const sent = this.#uploads.reduce((sum, { sent, state }) => sum + sent + Number(state === 'done'), 0);
    return whole ? sent / whole : 0;
  });

  /** One of them needs somebody to look after it. */
  readonly stuck = $derived(this.#uploads.some(({ state }) => state === 'failed'));

  /** From where it came to. */
  again = async (): Promise<void> => {
    this.problem = undefined;
    try {
      this.#target ??= await this.#upload();
      this.#end ??= this.#days === undefined ? null : momentAfter(this.#days);
      if (this.#target) this.link = await giveLink({ thing: this.#target, expires_at: this.#end });
      else this.cancelled = true;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.problem = failure;
    }
  };

  async #upload(): Promise<Target | undefined> {
    const folder = await makeSentFolder();
    this.#uploads = queue.add(this.#picked, { destination: 'shelf', folder: folder.id });
    const [first, ...others] = await whenArrived(this.#uploads);
    if (first === undefined) return undefined;
    const alone = !others.length && this.#picked.every(({ path }) => !path);
    return alone ? { kind: 'file', id: first } : { kind: 'folder', id: folder.id };
  }
}
