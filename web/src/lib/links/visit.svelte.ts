// One visit to a link: its landing page, whether the visitor has entered, and its files. Only entering is counted.
import { Problem } from '$lib/api/client';
import { enter, isDeadEnd, look, readFiles, type Landing, type LinkedFile } from './landingCalls';
import { forgetPass, keepPass, passFor } from './passes';

/** Whether visitors of this page can send files, and whether it is there. */
export const landing = $state({ takesFiles: false, isThere: false });

export class Visit {
  readonly token: string;
  facts = $state.raw<Landing>();
  /** Why nothing can be shown. */
  problem = $state.raw<Problem>();
  pass = $state('');
  /** What one may see, once one is in. */
  files = $state.raw<LinkedFile[]>();
  more = $state(false);
  /** Where else to go, once one is in, if there is nothing to be seen here. */
  leadsTo = '';
  #cursor: string | null = null;

  constructor(token: string) {
    this.token = token;
    void this.load();
  }

  get isIn(): boolean {
    return this.pass !== '';
  }

  /** With the earlier pass, if the page was only reloaded. */
  load = async (): Promise<void> => {
    this.problem = undefined;
    await this.#unlessOver(async () => {
      const { pass, leadsTo } = passFor(this.token);
      const facts = await look(this.token, pass);
      this.leadsTo = leadsTo;
      if (facts.entered) await this.#goOn(facts, pass);
      else {
        forgetPass(this.token);
        // Names and small pictures count as nothing.
        if (facts.listing) this.#found(facts.listing.files, facts.listing.cursor);
      }
      this.facts = facts;
    });
  };

  async enter(password = ''): Promise<void> {
    const entered = await enter(this.token, password);
    this.leadsTo = entered.goto ?? '';
    keepPass(this.token, { pass: entered.pass, leadsTo: this.leadsTo });
    // With a password, what it is may be known only now.
    if (this.facts?.needs_password) this.facts = await look(this.token, entered.pass);
    this.#found(entered.listing?.files ?? [], entered.listing?.cursor ?? null);
    this.pass = entered.pass;
  }

  async showMore(): Promise<void> {
    const { files, cursor } = await readFiles(this.token, this.pass, this.#cursor);
    this.#found([...(this.files ?? []), ...files], cursor);
  }

  /** Runs work that needs a pass; an expired pass is renewed, if that needs no password. */
  async inside(work: () => unknown): Promise<void> {
    await this.#unlessOver(async () => {
      if (this.isIn) await this.#checkPass();
      if (!this.isIn && !this.facts?.needs_password) await this.enter();
      if (this.isIn) await work();
    }, true);
  }

  async #checkPass(): Promise<void> {
    const facts = await look(this.token, this.pass);
    this.facts = facts;
    if (facts.entered) return;
    this.pass = '';
    forgetPass(this.token);
  }

  async #goOn(facts: Landing, pass: string): Promise<void> {
    if (['file', 'folder', 'selection', 'album', 'photos'].includes(facts.kind)) {
      const { files, cursor } = await readFiles(this.token, pass, null);
      this.#found(files, cursor);
    }
    this.pass = pass;
  }

  #found(files: LinkedFile[], cursor: string | null): void {
    this.files = files;
    this.#cursor = cursor;
    this.more = cursor !== null;
  }

  /** What ends the visit is shown in its place; of what else goes wrong, whoever asked is told, if `passing` it on. */
  async #unlessOver(work: () => Promise<void>, passing = false): Promise<void> {
    try {
      await work();
    } catch (failure) {
      if (!(failure instanceof Problem) || (passing && !isDeadEnd(failure.slug))) throw failure;
      this.problem = failure;
    }
  }
}
