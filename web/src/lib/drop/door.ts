// The door of a session: lets in whoever knows the spoken code, and counts wrong guesses, since a hostile server would not.

/** What is spoken, and how many guesses at it were wrong. Without a code the door is shut. */
export type DoorCode = { code: string | undefined; wrong: number; died: number };

/** One meeting with somebody who knocks; bytes are written as they travel. */
export type Meeting = {
  share: string;
  /** Throws when the guest does not know the code. */
  verdict(tag: string): Promise<Admission>;
};
export type Admission = { tag: string; sealed: string };
export type Refusal = { refused: 'code-wrong' | 'code-dead' };

export type Surroundings = {
  draw(): string;
  /** Throws for a share that no honest guest sends. */
  meet(code: string, knockId: string, share: string): Promise<Meeting>;
  answer(knockId: string, share: string): Promise<void>;
  judge(knockId: string, verdict: Admission | Refusal): Promise<void>;
  isWrongGuess(failure: unknown): boolean;
  changed(code: DoorCode): void;
};

export const GUESSES = 3;
const KNOCK_TIMEOUT_MS = 30_000;
// Somebody who keeps guessing would otherwise get three guesses at each of endlessly many codes.
const DEATHS_UNATTENDED = 3;

export class DoorKeeper {
  #around: Surroundings;
  #state: DoorCode;
  #open: { knockId: string; meeting: Promise<Meeting>; timer: ReturnType<typeof setTimeout> } | undefined;

  /** With what was kept of it before the page was loaded anew, if it was. */
  constructor(around: Surroundings, kept?: DoorCode) {
    this.#around = around;
    this.#state = kept ?? { code: around.draw(), wrong: 0, died: 0 };
    // A guess was under way when the page went away.
    if (this.#state.wrong >= GUESSES) this.#die();
    else around.changed(this.#state);
  }

  /** Another code, because somebody wants one. */
  renew(): void {
    this.#shut();
    this.#become({ code: this.#around.draw(), wrong: 0, died: 0 });
  }

  close(): void {
    this.#shut();
  }

  async knock(knockId: string, share: string): Promise<void> {
    const { code } = this.#state;
    // One at a time: whoever knocked before and has not finished has had their guess.
    if (this.#open) this.#wrong();
    if (code === undefined || this.#state.code !== code)
      return this.#around.judge(knockId, { refused: 'code-dead' });
    // Spent before anything is answered, so that no reload and no lost line gives it back.
    this.#become({ ...this.#state, wrong: this.#state.wrong + 1 });
    const meeting = this.#around.meet(code, knockId, share);
    const timer = setTimeout(() => this.#wrong(), KNOCK_TIMEOUT_MS);
    this.#open = { knockId, meeting, timer };
    await this.#guarded(knockId, async () => this.#around.answer(knockId, (await meeting).share));
  }

  async tag(knockId: string, tag: string): Promise<void> {
    const open = this.#open;
    if (open?.knockId !== knockId) return;
    await this.#guarded(knockId, async () => {
      const verdict = await (await open.meeting).verdict(tag);
      // Meanwhile its time was over, or somebody wanted another code.
      if (this.#open !== open) return;
      this.#shut();
      this.#become({ ...this.#state, wrong: this.#state.wrong - 1, died: 0 });
      await this.#around.judge(knockId, verdict);
    });
  }

  async #guarded(knockId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (failure) {
      if (!this.#around.isWrongGuess(failure)) throw failure;
      if (this.#open?.knockId !== knockId) return;
      this.#wrong();
      await this.#around.judge(knockId, { refused: this.#state.wrong ? 'code-wrong' : 'code-dead' });
    }
  }

  /** The open knock came to nothing; its guess was counted when it began. */
  #wrong(): void {
    this.#shut();
    if (this.#state.wrong >= GUESSES) this.#die();
  }

  #die(): void {
    const died = this.#state.died + 1;
    this.#become({
      code: died < DEATHS_UNATTENDED ? this.#around.draw() : undefined,
      wrong: 0,
      died,
    });
  }

  #shut(): void {
    clearTimeout(this.#open?.timer);
    this.#open = undefined;
  }

  #become(state: DoorCode): void {
    this.#state = state;
    this.#around.changed(state);
  }
}
