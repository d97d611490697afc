// The receiver's end of a stream: the body of a response, or a WebSocket if a proxy buffers responses.
import type { Bytes } from '../crypto/bytes';
import { sourceOf, sourceOfPieces, type Source } from '../crypto/pieces';
import { isAbort, Unreachable, type Control } from './control';

/** No byte arrived in time: a proxy on the way buffers the response. */
export class HeldBack extends Unreachable {}

export type Way = 'answer' | 'socket';

const FIRST_BYTE_MS = 10_000;
// A sender may pause, but a dead connection does not always report an error.
const SILENCE_MS = 90_000;

/** The bytes as they come; errs as `Unreachable` when they stop coming. */
export async function openInlet(
  control: Pick<Control, 'call' | 'socket'>,
  requestId: string,
  way: Way,
  signal: AbortSignal,
): Promise<Source> {
  const watch = new Watch(signal);
  const path = `/requests/${requestId}`;
  try {
    const source = way === 'answer' ? await answer(control, path, watch) : frames(control, path, watch);
    return watched(source, watch);
  } catch (failure) {
    throw watch.meant(failure);
  }
}

/** Ends what has been silent for too long, or is no longer wanted. */
class Watch {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #stop = (): void => this.#controller.abort(this.#outer.reason);
  #timer: ReturnType<typeof setTimeout>;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    outer.addEventListener('abort', this.#stop);
    this.#timer = setTimeout(() => this.#controller.abort(new HeldBack('no first byte')), FIRST_BYTE_MS);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Paused while nobody reads: a slow disk is not a silent line. */
  listen(): void {
    this.#timer = setTimeout(() => this.#controller.abort(new Unreachable('silence')), SILENCE_MS);
  }

  seen(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#stop);
    this.#controller.abort();
  }

  /** Why it ended: our own reason if we ended it. */
  meant(failure: unknown): unknown {
    const { aborted, reason } = this.signal;
    this.end();
    if (aborted) return reason;
    return isAbort(failure) || failure instanceof TypeError
      ? new Unreachable('broken off', { cause: failure })
      : failure;
  }
}

function watched(source: Source, watch: Watch): Source {
  let isFirst = true;
  return {
    async read(into) {
      if (!isFirst) watch.listen();
      isFirst = false;
      try {
        const bytes = await source.read(into);
        watch.seen();
        return bytes;
      } catch (failure) {
        throw watch.meant(failure);
      }
    },
    cancel: () => watch.end(),
  };
}

async function answer(control: Pick<Control, 'call'>, path: string, watch: Watch): Promise<Source> {
  const response = await control.call(`${path}/bytes`, { signal: watch.signal });
  if (!response.body) throw new Unreachable('no body');
  return sourceOf(response.body);
}

function frames(control: Pick<Control, 'socket'>, path: string, watch: Watch): Source {
  const socket = control.socket(`${path}/socket`);
  const waiting: (Bytes | 'closed')[] = [];
  let wake: () => void = () => undefined;
  const put = (what: Bytes | 'closed'): void => {
    waiting.push(what);
    wake();
  };
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => put(new Uint8Array(data));
  socket.onclose = () => put('closed');
  watch.signal.addEventListener('abort', () => socket.close());
  const next = async (): Promise<Bytes | undefined> => {
    while (!waiting.length) await new Promise<void>((resolve) => (wake = resolve));
    const frame = waiting.shift() ?? 'closed';
    if (frame === 'closed') throw new Unreachable('The socket was closed.');
    return frame.length ? frame : undefined;
  };
  return sourceOfPieces(next, () => socket.close());
}
