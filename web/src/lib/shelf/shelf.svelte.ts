// The files of whoever looks, as far as they are loaded, kept right by what is uploaded, renamed and deleted here.
import { ask, http, Problem } from '$lib/api/client';
import type { components } from '$lib/api/schema';

export type ShelfFile = components['schemas']['FileView'];
type Usage = components['schemas']['UsageView'];

const PAGE = 50;

export class Shelf {
  files = $state.raw<ShelfFile[]>([]);
  usage = $state.raw<Usage>();
  problem = $state.raw<Problem>();
  loaded = $state(false);
  loadingMore = $state(false);
  #cursor = $state<string | null>(null);
  #counting: Promise<void> | undefined;

  get hasMore(): boolean {
    return this.#cursor !== null;
  }

  async load(): Promise<void> {
    await this.#guarded(async () => {
      await Promise.all([this.#nextPage(null), this.#count()]);
      this.loaded = true;
    });
  }

  async more(): Promise<void> {
    this.loadingMore = true;
    await this.#guarded(() => this.#nextPage(this.#cursor));
    this.loadingMore = false;
  }

  /** Something was uploaded. */
  async arrived(fileId: string): Promise<void> {
    await this.#guarded(async () => {
      const file = await ask(
        http.GET('/api/v1/shelf/files/{file_id}', { params: { path: { file_id: fileId } } }),
      );
      this.files = merged([file, ...this.files]);
      await this.#count();
    });
  }

  async rename({ file_id }: ShelfFile, name: string): Promise<void> {
    const renamed = await ask(
      http.PATCH('/api/v1/shelf/files/{file_id}', { params: { path: { file_id } }, body: { name } }),
    );
    this.files = this.files.map((file) => (file.file_id === file_id ? renamed : file));
  }

  async remove({ file_id }: ShelfFile): Promise<void> {
    await ask(http.DELETE('/api/v1/shelf/files/{file_id}', { params: { path: { file_id } } })).catch(
      (problem: unknown) => {
        // Another tab was faster: it is gone, as was wanted.
        if (!(problem instanceof Problem && problem.status === 404)) throw problem;
      },
    );
    this.files = this.files.filter((file) => file.file_id !== file_id);
    await this.#guarded(() => this.#count());
  }

  async #nextPage(cursor: string | null): Promise<void> {
    const query = { limit: PAGE, ...(cursor !== null && { cursor }) };
    const page = await ask(http.GET('/api/v1/shelf/files', { params: { query } }));
    this.files = merged([...this.files, ...page.files]);
    this.#cursor = page.cursor;
  }

  /** Two hundred files that arrive at once are counted a few times, not two hundred. */
  #count(): Promise<void> {
    this.#counting ??= new Promise((resolve) => setTimeout(resolve, this.usage ? 300 : 0)).then(async () => {
      this.#counting = undefined;
      this.usage = await ask(http.GET('/api/v1/shelf/usage'));
    });
    return this.#counting;
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.problem = undefined;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.problem = problem;
    }
  }
}

/** Newest first, each once: a page that is loaded later may hold what has arrived since. Ids sort by time. */
function merged(files: ShelfFile[]): ShelfFile[] {
  const byId = new Map(files.map((file) => [file.file_id, file]));
  return [...byId.values()].sort((one, other) => (one.file_id < other.file_id ? 1 : -1));
}
