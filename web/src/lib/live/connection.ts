// Keeps one WebSocket connection open, and reconnects with backoff.
import type { Hello, Resync } from './frames';

export type State = 'off' | 'connecting' | 'connected' | 'lost';

/** The part of `WebSocket` that is needed. */
export type Socket = {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
  readonly readyState: number;
  close(): void;
};

/** What the connection asks of the world around it. */
export type Surroundings<News> = {
  dial(): Socket;
  read(frame: unknown): News | Hello | undefined;
  /** Whether the server still takes us for the same person; thrown if it does not answer. */
  isRecognised(): Promise<boolean>;
  random(): number;
};

const OPENING = 0;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
// A connection that takes longer to say hello counts as broken.
const HELLO_TIMEOUT_MS = 15_000;

/** Exponential backoff with jitter: a restarted server is not called by all clients at once. */
export function waitBefore(attempt: number, random: number): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10));
  return longest / 2 + (longest / 2) * random;
}

function isHello(said: { type: string } | undefined): said is Hello {
  return said?.type === 'hello';
}

export class Connection<News extends { type: string }> {
  #around: Surroundings<News>;
  #heard: (event: News | Hello | Resync) => void;
  #turned: (state: State) => void;
  #state: State = 'off';
  #socket: Socket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #knocking = false;
  #wasConnected = false;

  constructor(
    around: Surroundings<News>,
    heard: (event: News | Hello | Resync) => void,
    turned: (state: State) => void,
  ) {
    this.#around = around;
    this.#heard = heard;
    this.#turned = turned;
  }

  start(): void {
    if (this.#state !== 'off') return;
    this.#attempt = 0;
    this.#wasConnected = false;
    this.#become('connecting');
    this.#dial();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#hangUp();
    this.#become('off');
  }

  /** The connection may be dead without an error: reconnect. */
  suspect(): void {
    if (this.#socket) this.#lost();
  }

  /** The network may be back: retry now. */
  hurry(): void {
    if (this.#state !== 'lost' || this.#socket) return;
    clearTimeout(this.#timer);
    void this.#again();
  }

  #dial(): void {
    const socket = this.#around.dial();
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#frame(data);
    socket.onclose = () => this.#lost();
    this.#timer = setTimeout(() => this.#lost(), HELLO_TIMEOUT_MS);
  }

  #frame(data: unknown): void {
    const said = this.#around.read(data);
    if (isHello(said)) this.#greeted(said);
    else if (said) this.#heard(said);
  }

  #greeted(hello: Hello): void {
    clearTimeout(this.#timer);
    this.#attempt = 0;
    this.#become('connected');
    // Events sent while we were disconnected are lost.
    this.#heard(this.#wasConnected ? { type: 'resync' } : hello);
    this.#wasConnected = true;
  }

  #lost(): void {
    clearTimeout(this.#timer);
    this.#hangUp();
    this.#become('lost');
    this.#timer = setTimeout(() => void this.#again(), waitBefore(this.#attempt++, this.#around.random()));
  }

  /** A browser cannot tell why a WebSocket was refused. A plain request can, and renews the session, so it goes first. */
  async #again(): Promise<void> {
    if (this.#knocking) return;
    this.#knocking = true;
    const recognised = await this.#around.isRecognised().catch(() => undefined);
    this.#knocking = false;
    if (this.#state !== 'lost' || this.#socket) return;
    if (recognised === undefined) this.#lost();
    else if (recognised) this.#dial();
    else this.stop();
  }

  #hangUp(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (!socket) return;
    socket.onmessage = socket.onclose = null;
    // Browsers complain of a socket that is closed before it is open.
    if (socket.readyState === OPENING) socket.onopen = () => socket.close();
    else socket.close();
  }

  #become(state: State): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#turned(state);
  }
}
