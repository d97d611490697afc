// One upload: its state, progress, speed and problem.
import { randomKey } from '$lib/api/repeatKeys';
import type { Picked } from '$lib/files/pickedFiles';
import { shownName } from '$lib/ui/shownName';
import { after, type Happening, type State } from './lifecycle';
import type { Whereto } from './resumeStore';
import { secondsLeft, Speed } from './speed';

// More often than this nobody sees, and every redraw takes time from the sending.
const SHOWN_EVERY_SECONDS = 0.2;
let last = 0;

export class Upload {
  readonly id = ++last;
  readonly key = randomKey();
  /** Another reading of the same file may take its place. */
  file: File;
  /** Where it was in its folder, if it came in one. */
  readonly path: string;
  readonly whereto: Whereto;
  /** What else is said of the file, such as what a sidecar says. */
  readonly details: Readonly<Record<string, string>>;
  readonly fingerprint: string;
  /** As it is shown. */
  readonly name: string;
  readonly size: number;
  state = $state<State>('waiting');
  /** How much is on its way or stored. */
  sent = $state(0);
  /** Bytes per second, if it is known. */
  rate = $state<number>();
  /** Why it does not continue, in words. */
  sentence = $state('');
  retryAt = $state(0);
  uploadId: string | undefined;
  /** The id of what it became at its destination. */
  became: string | undefined;
  /** How many attempts in a row have not brought it further. */
  fruitless = 0;
  /** The bundle in which it goes, if it does. */
  lot: object | undefined;
  /** It goes by itself, after a bundle with it was refused. */
  alone = false;

  #speed = new Speed();
  #stored = 0;
  #shownAt = 0;
  #stop: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ file, path, details = {} }: Picked, whereto: Whereto, fingerprint: string) {
    this.file = file;
    this.path = path;
    this.whereto = whereto;
    this.details = details;
    this.fingerprint = fingerprint;
    this.name = shownName(path || file.name);
    this.size = file.size;
  }

  /** The file whose contents it is to replace. */
  get replaces(): string | undefined {
    return this.details.replaces;
  }

  /** Everything is sent, and the server puts it together. */
  get finishing(): boolean {
    return this.state === 'sending' && this.size > 0 && this.sent >= this.size;
  }

  get secondsLeft(): number | undefined {
    return secondsLeft(this.size - this.sent, this.rate);
  }

  /** Whether that changed anything. */
  move(happening: Happening, sentence = ''): boolean {
    const next = after(this.state, happening);
    if (next === this.state) return false;
    this.state = next;
    this.sentence = sentence;
    if (next === 'done') this.sent = this.size;
    if (next !== 'sending') this.rate = undefined;
    return true;
  }

  /** What stops the attempt that begins now. */
  begin(): AbortSignal {
    this.halt();
    this.move('begin');
    this.#speed = new Speed();
    this.#stop = new AbortController();
    return this.#stop.signal;
  }

  halt(): void {
    clearTimeout(this.#timer);
    this.#stop?.abort();
  }

  wait(seconds: number, then: () => void): void {
    this.retryAt = Date.now() + seconds * 1000;
    this.#timer = setTimeout(then, seconds * 1000);
  }

  startAnew(): void {
    this.uploadId = undefined;
    this.#stored = 0;
    this.sent = 0;
  }

  stored(bytes: number): void {
    if (bytes > this.#stored) {
      this.#stored = bytes;
      this.fruitless = 0;
    }
  }

  progress(bytes: number): void {
    const now = performance.now() / 1000;
    this.#speed.add(bytes, now);
    if (now - this.#shownAt < SHOWN_EVERY_SECONDS && bytes < this.size) return;
    this.#shownAt = now;
    this.sent = bytes;
  }

  tick(): void {
    if (this.state === 'sending') this.rate = this.#speed.rate(performance.now() / 1000);
  }
}
