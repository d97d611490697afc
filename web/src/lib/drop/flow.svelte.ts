// The progress of one transfer, as both sides show it: bytes, speed and time left.
import { secondsLeft, Speed } from '$lib/uploads/speed';
import type { Stage, Status } from './transfer/contentTransfer';

const LOOK_EVERY_MS = 1000;
const MOVING: ReadonlySet<Stage> = new Set(['queued', 'asking', 'flowing', 'broken', 'saving']);

export class Flow {
  status = $state.raw<Status>({ stage: 'queued', bytes: 0, length: null });
  /** Bytes per second, if it is known. */
  rate = $state<number>();
  readonly share = $derived(this.status.length ? this.status.bytes / this.status.length : 0);
  readonly isMoving = $derived(MOVING.has(this.status.stage));
  readonly secondsLeft = $derived(
    this.status.length === null ? undefined : secondsLeft(this.status.length - this.status.bytes, this.rate),
  );
  #speed = new Speed();
  #clock: ReturnType<typeof setInterval> | undefined;

  show(status: Status): void {
    const isFlowing = status.stage === 'flowing';
    if (isFlowing) this.#speed.add(status.bytes, now());
    this.status = status;
    this.#look(isFlowing);
  }

  /** What stands still must not look as fast as it was. */
  #look(isFlowing: boolean): void {
    this.rate = isFlowing ? this.#speed.rate(now()) : undefined;
    if (isFlowing) {
      this.#clock ??= setInterval(() => (this.rate = this.#speed.rate(now())), LOOK_EVERY_MS);
    } else {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
  }
}

function now(): number {
  return performance.now() / 1000;
}
