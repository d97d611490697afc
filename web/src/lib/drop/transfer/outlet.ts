// The sender's end of a stream: segments by PUT, smaller ones if a proxy refuses large ones, else a WebSocket.
import { Refused, Unreachable, type Control } from './control';

// Two of these in flight are fastest in Chromium, as blobs: typed arrays as bodies go at a tenth of the speed.
export const SEGMENT_BYTES = 8 * 2 ** 20;
// What most proxies let pass as they are shipped.
const SMALL_BYTES = 2 ** 20;
const FRAME_BYTES = 256 * 1024;
const MOST_BUFFERED_BYTES = 4 * 2 ** 20;
const LOOK_AGAIN_MS = 5;

/** The part of `Control` that is needed. */
export type Line = Pick<Control, 'call' | 'socket'>;

type Segment = { at: number; blob: Blob; isLast: boolean; outcome: Promise<'taken' | 'refused'> };

export class Outlet {
  readonly #line: Line;
  readonly #path: string;
  readonly #inFlight: number;
  readonly #signal: AbortSignal;
  #offset = 0;
  #underWay: Segment[] = [];
  #way: 'large' | 'small' | Promise<WebSocket> = 'large';

  constructor(line: Line, requestId: string, inFlight: number, signal: AbortSignal) {
    this.#line = line;
    this.#path = `/requests/${requestId}`;
    this.#inFlight = inFlight;
    this.#signal = signal;
  }

  /** Takes the next bytes of the stream. Done when they are under way, so that the caller can prepare what follows. */
  async send(blob: Blob, isLast: boolean): Promise<void> {
    while (this.#underWay.length >= this.#inFlight) await this.#settle();
    const at = this.#offset;
    this.#offset += blob.size;
    if (this.#way !== 'large') return this.#carefully(at, blob, isLast);
    const outcome = this.#put(at, blob, isLast);
    // Awaited later, in order; until then a failure is not unhandled.
    outcome.catch(() => undefined);
    this.#underWay.push({ at, blob, isLast, outcome });
  }

  /** Done when everything has been taken. */
  async finish(): Promise<void> {
    while (this.#underWay.length) await this.#settle();
  }

  /** The oldest segment; if a proxy refused it, everything from there on goes again, in another way. */
  async #settle(): Promise<void> {
    const outcome = await this.#underWay[0]?.outcome;
    if (outcome === 'taken') {
      this.#underWay.shift();
      return;
    }
    const again = this.#underWay;
    this.#underWay = [];
    await Promise.allSettled(again.map((segment) => segment.outcome));
    this.#way = 'small';
    for (const { at, blob, isLast } of again) await this.#carefully(at, blob, isLast);
  }

  async #carefully(at: number, blob: Blob, isLast: boolean): Promise<void> {
    for (let from = 0; this.#way === 'small';) {
      const piece = blob.slice(from, from + SMALL_BYTES);
      const isEnd = from + piece.size === blob.size;
      if ((await this.#put(at + from, piece, isLast && isEnd)) === 'taken') {
        if (isEnd) return;
        from += piece.size;
      } else {
        this.#way = opened(this.#line.socket(`${this.#path}/socket`), this.#signal);
        blob = blob.slice(from);
      }
    }
    await this.#frames(blob, isLast);
  }

  async #put(at: number, blob: Blob, isLast: boolean): Promise<'taken' | 'refused'> {
    const path = `${this.#path}/bytes/${at}${isLast ? '?last=true' : ''}`;
    try {
      await this.#line.call(path, { method: 'PUT', body: blob, signal: this.#signal });
      return 'taken';
    } catch (failure) {
      if (failure instanceof Refused && failure.isOfProxy) return 'refused';
      throw failure;
    }
  }

  async #frames(blob: Blob, isLast: boolean): Promise<void> {
    const socket = await (this.#way as Promise<WebSocket>);
    for (let at = 0; at < blob.size; at += FRAME_BYTES) {
      const frame = await blob.slice(at, at + FRAME_BYTES).arrayBuffer();
      await drained(socket, MOST_BUFFERED_BYTES - FRAME_BYTES);
      socket.send(frame);
    }
    if (!isLast) return;
    socket.send(new ArrayBuffer(0));
    await drained(socket, 0);
  }
}

function opened(socket: WebSocket, signal: AbortSignal): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket);
    socket.onclose = () => reject(new Unreachable('The socket was closed.'));
    signal.addEventListener('abort', () => {
      socket.close();
      reject(signal.reason as Error);
    });
  });
}

/** Sockets do not say when there is room again, so it is looked at. */
async function drained(socket: WebSocket, mostBytes: number): Promise<void> {
  while (socket.bufferedAmount > mostBytes) {
    if (socket.readyState !== WebSocket.OPEN) throw new Unreachable('The socket was closed.');
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
