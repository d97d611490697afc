// The HTTP stack of the upload protocol: it renews the session, times out, and tells a connection that
// broke from a file that cannot be read any more.
import type { HttpRequest, HttpResponse, HttpStack } from 'tus-js-client';
import { renew } from '$lib/api/client';
import { refused, silence, unreadable } from './failure';

// Without progress for so long, the connection counts as dead.
const SEND_TIMEOUT_MS = 60_000;
// The last answer comes when the server has put the whole file together.
const ANSWER_TIMEOUT_MS = 300_000;

export class Requests implements HttpStack {
  createRequest(method: string, url: string): HttpRequest {
    return new UploadRequest(method, url);
  }

  getName(): string {
    return 'Satchel';
  }
}

class UploadRequest implements HttpRequest {
  #method: string;
  #url: string;
  #headers = new Map<string, string>();
  #progress: (bytesSent: number) => void = () => undefined;
  #current: XMLHttpRequest | undefined;
  #aborted = false;

  constructor(method: string, url: string) {
    this.#method = method;
    this.#url = url;
  }

  getMethod(): string {
    return this.#method;
  }

  getURL(): string {
    return this.#url;
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name, value);
  }

  getHeader(name: string): string | undefined {
    return this.#headers.get(name);
  }

  setProgressHandler(handler: (bytesSent: number) => void): void {
    this.#progress = handler;
  }

  getUnderlyingObject(): unknown {
    return this.#current;
  }

  abort(): Promise<void> {
    this.#aborted = true;
    this.#current?.abort();
    return Promise.resolve();
  }

  /** The answer, if it is a success; everything else is thrown as a failure, before the protocol draws conclusions. */
  async send(body: Blob | null = null): Promise<HttpResponse> {
    let answer = await this.#exchange(body);
    if (isOurs(answer) && answer.status === 401 && (await this.#renewed()))
      answer = await this.#exchange(body);
    if (answer.status >= 200 && answer.status < 300) return new UploadAnswer(answer);
    throw refused(this.#method, answer);
  }

  async #renewed(): Promise<boolean> {
    try {
      return (await renew()) && !this.#aborted;
    } catch {
      throw silence(false);
    }
  }

  async #exchange(body: Blob | null): Promise<XMLHttpRequest> {
    const answer = await this.#transmit(body);
    if (answer) return answer;
    // The browser says no more than “error”, whether the line broke or the file did.
    throw body && !(await isReadable(body)) ? unreadable() : silence(body !== null);
  }

  /** Nothing when there was no answer; neither this nor that once it is aborted. */
  #transmit(body: Blob | null): Promise<XMLHttpRequest | undefined> {
    return new Promise((resolve) => {
      const xhr = (this.#current = new XMLHttpRequest());
      xhr.open(this.#method, this.#url);
      for (const [name, value] of this.#headers) xhr.setRequestHeader(name, value);
      const watch = new Watch(() => {
        xhr.abort();
        resolve(undefined);
      });
      watch.restart(body ? SEND_TIMEOUT_MS : ANSWER_TIMEOUT_MS);
      xhr.upload.onprogress = ({ loaded, total }) => {
        watch.restart(loaded < total ? SEND_TIMEOUT_MS : ANSWER_TIMEOUT_MS);
        this.#progress(loaded);
      };
      xhr.onabort = () => watch.stop();
      xhr.onerror = () => {
        watch.stop();
        resolve(undefined);
      };
      xhr.onload = () => {
        watch.stop();
        resolve(xhr);
      };
      xhr.send(body);
    });
  }
}

class UploadAnswer implements HttpResponse {
  #xhr: XMLHttpRequest;

  constructor(xhr: XMLHttpRequest) {
    this.#xhr = xhr;
  }

  getStatus(): number {
    return this.#xhr.status;
  }

  getHeader(name: string): string | undefined {
    return this.#xhr.getResponseHeader(name) ?? undefined;
  }

  getBody(): string {
    return this.#xhr.responseText;
  }

  getUnderlyingObject(): XMLHttpRequest {
    return this.#xhr;
  }
}

class Watch {
  #bark: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(bark: () => void) {
    this.#bark = bark;
  }

  restart(milliseconds: number): void {
    this.stop();
    this.#timer = setTimeout(this.#bark, milliseconds);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function isOurs(answer: XMLHttpRequest): boolean {
  return answer.getResponseHeader('content-type')?.startsWith('application/problem+json') ?? false;
}

async function isReadable(body: Blob): Promise<boolean> {
  try {
    await body.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}
