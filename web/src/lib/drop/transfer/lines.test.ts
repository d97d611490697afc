import { describe, expect, it } from 'vitest';
import { concat } from '../crypto/bytes';
import { Refused, Unreachable } from './control';
import { Marks } from './marks';
import { Outlet, type Line } from './outlet';
import { Semaphore } from './semaphore';

/** A server behind a proxy that lets only so many bytes pass at once. */
class Taker implements Line {
  taken = new Uint8Array();
  isComplete = false;
  requests = 0;
  mostAtOnce = 0;
  #now = 0;
  readonly #mostBytes: number;

  constructor(mostBytes = Infinity) {
    this.#mostBytes = mostBytes;
  }

  async call(path: string, { body }: RequestInit): Promise<Response> {
    this.requests += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#now);
    const bytes = new Uint8Array(await (body as Blob).arrayBuffer());
    this.#now -= 1;
    if (bytes.length > this.#mostBytes)
      throw new Refused({ status: 413, contentType: 'text/html', body: null });
    const [, offset, last] = /\/bytes\/(\d+)(\?last=true)?$/.exec(path) ?? [];
    if (Number(offset) !== this.taken.length)
      throw new Refused({ status: 409, contentType: 'application/problem+json', body: {} });
    this.taken = concat(this.taken, bytes);
    this.isComplete = last !== undefined;
    return new Response();
  }

  socket(): WebSocket {
    throw new Unreachable('There is no socket here.');
  }
}

async function send(outlet: Outlet, parts: readonly string[]): Promise<void> {
  for (const [index, part] of parts.entries())
    await outlet.send(new Blob([part]), index === parts.length - 1);
  await outlet.finish();
}

describe('the sender’s end of a stream', () => {
  const { signal } = new AbortController();

  it('sends segments in order, no more at once than it may, and tells the last', async () => {
    const taker = new Taker();
    await send(new Outlet(taker, 'r', 2, signal), ['one ', 'two ', 'three ', 'four']);
    expect(new TextDecoder().decode(taker.taken)).toBe('one two three four');
    expect(taker.isComplete).toBe(true);
    expect(taker.mostAtOnce).toBeLessThanOrEqual(2);
  });

  it('sends smaller segments where large ones are refused', async () => {
    const taker = new Taker(2 ** 20);
    const whole = 'x'.repeat(2 ** 20 + 3);
    await send(new Outlet(taker, 'r', 2, signal), [whole, 'end']);
    expect(taker.taken.length).toBe(whole.length + 3);
    expect(taker.isComplete).toBe(true);
    expect(taker.requests).toBe(2 + 3);
  });

  it('opens a socket where even those are refused', async () => {
    const sending = send(new Outlet(new Taker(1), 'r', 2, signal), ['too large']);
    await expect(sending).rejects.toThrow('There is no socket here.');
  });

  it('passes on what the server refuses', async () => {
    const taker = new Taker();
    taker.taken = new Uint8Array(7);
    await expect(send(new Outlet(taker, 'r', 1, signal), ['out of place'])).rejects.toThrow(Refused);
  });
});

describe('marks along a content', () => {
  const value = (number: number): Uint8Array<ArrayBuffer> => new Uint8Array(32).fill(number);

  it('are where they were set, and survive being posted', () => {
    const marks = new Marks();
    for (let chunks = 1; chunks <= 200; chunks++) marks.note(chunks, value(chunks));
    const posted = new Marks(marks.bytes);
    expect(posted.before(130)).toEqual({ chunks: 128, value: value(128) });
    expect(posted.before(64)).toEqual({ chunks: 64, value: value(64) });
    expect(posted.before(9999)).toEqual({ chunks: 192, value: value(192) });
  });

  it('begin with the chain of nothing', () => {
    expect(new Marks().before(63)).toEqual({ chunks: 0, value: value(0) });
  });

  it('leave no gap when reading began in the middle', () => {
    const marks = new Marks();
    marks.note(128, value(128));
    expect(marks.before(200).chunks).toBe(0);
  });
});

describe('slots', () => {
  it('let only so many begin, the others in order, and skip who has left', () => {
    const slots = new Semaphore(1);
    const begun: string[] = [];
    const first = slots.acquire(() => begun.push('first'));
    const second = slots.acquire(() => begun.push('second'));
    slots.acquire(() => begun.push('third'));
    second();
    expect(begun).toEqual(['first']);
    first();
    first();
    expect(begun).toEqual(['first', 'third']);
  });
});
