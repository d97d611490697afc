// How a worker calls the server about its request: without cookies, and telling a refusal from a lost connection.
import type { Access, Refusal } from './messages';

/** The server refused for good: a retry would get the same answer. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(`The server refused: ${refusal.status}`);
  }

  get slug(): string {
    const { type } = (this.refusal.body ?? {}) as { type?: unknown };
    return typeof type === 'string' ? (type.split('#')[1] ?? '') : '';
  }

  /** Whatever the server itself refuses it explains, in a form of its own. */
  get isOfProxy(): boolean {
    return !this.refusal.contentType?.startsWith('application/problem+json');
  }
}

/** There was no answer, or not one of the server's own: worth a retry. */
export class Unreachable extends Error {}

// Not the fault of what was asked: too early, too often, too much at once, or not the server that answered.
const PASSING = new Set([408, 425, 429]);

export class Control {
  readonly #session: string;
  readonly #token: string;

  constructor({ keys, token }: Access) {
    this.#session = `/api/v1/drop/sessions/${keys.sessionId}`;
    this.#token = token;
  }

  async post(path: string, body: unknown, signal: AbortSignal): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    await this.call(path, { method: 'POST', headers, body: JSON.stringify(body), signal });
  }

  async delete(path: string): Promise<void> {
    await this.call(path, { method: 'DELETE' });
  }

  /** `fetch` with our token; only what the server did answers. */
  async call(
    path: string,
    { headers, ...init }: RequestInit & { headers?: Record<string, string> },
  ): Promise<Response> {
    const authorization = `Bearer ${this.#token}`;
    const request = { ...init, headers: { ...headers, authorization }, credentials: 'omit' as const };
    const response = await fetch(this.#session + path, request).catch((failure: unknown) => {
      throw isAbort(failure) ? failure : new Unreachable('no answer', { cause: failure });
    });
    if (response.ok) return response;
    const refused = new Refused(await refusalOf(response));
    if (response.status < 500 && (!PASSING.has(response.status) || refused.slug === 'drop-limit'))
      throw refused;
    throw new Unreachable(`answered ${response.status}`, { cause: refused });
  }

  socket(path: string): WebSocket {
    const socket = new WebSocket(this.#session + path, ['satchel.drop.1', this.#token]);
    socket.binaryType = 'arraybuffer';
    return socket;
  }
}

export function isAbort(failure: unknown): boolean {
  return failure instanceof DOMException && failure.name === 'AbortError';
}

async function refusalOf(response: Response): Promise<Refusal> {
  const body: unknown = await response.json().catch(() => null);
  return { status: response.status, contentType: response.headers.get('content-type'), body };
}
