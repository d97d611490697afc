// The folders of the shelf as a tree that is read as far as somebody opens it.
import type { Problem } from '$lib/api/client';
import { ROOT } from '$lib/files/addresses';
import { foldersIn } from '$lib/files/entries';
import { t } from '$lib/i18n/index.svelte';
import { Loader } from '$lib/shell/loader.svelte';

export class Branch {
  readonly id: string;
  readonly name: string;
  readonly level: number;
  readonly parent: Branch | undefined;
  open = $state(false);
  #reading = $state.raw<Loader<Branch[]>>();

  constructor(id: string, name: string, parent?: Branch) {
    this.id = id;
    this.name = name;
    this.parent = parent;
    this.level = parent ? parent.level + 1 : 1;
  }

  /** Undefined until they are loaded. */
  get children(): Branch[] | undefined {
    return this.#reading?.data;
  }

  get problem(): Problem | undefined {
    return this.#reading?.problem;
  }

  unfold(): void {
    this.open = true;
    this.#reading ??= new Loader(async () =>
      (await foldersIn(this.id)).map(({ id, name }) => new Branch(id, name, this)),
    );
  }

  again(): void {
    void this.#reading?.again();
  }

  /** Itself and the unfolded folders below it, in order, without `hidden` ones and their contents. */
  *shown(hidden: ReadonlySet<string>): Generator<Branch> {
    if (hidden.has(this.id)) return;
    yield this;
    if (this.open) for (const child of this.children ?? []) yield* child.shown(hidden);
  }
}

export function trunk(): Branch {
  const root = new Branch(ROOT, t('shelf.title'));
  root.unfold();
  return root;
}
