// Throttles work that may be asked for many times a second.

export class Throttle {
  #work: () => Promise<void>;
  #restMs: number;
  #resting = false;
  #wanted = false;
  #stopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(work: () => Promise<void>, restMs: number) {
    this.#work = work;
    this.#restMs = restMs;
  }

  /** Runs at once. If it has just run, it runs once more after the pause, however often it is asked meanwhile. */
  ask = (): void => {
    this.#wanted = true;
    if (!this.#resting && !this.#stopped) void this.#run();
  };

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#wanted = false;
    this.#resting = true;
    await this.#work();
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#resting = false;
      if (this.#wanted) void this.#run();
    }, this.#restMs);
  }
}
