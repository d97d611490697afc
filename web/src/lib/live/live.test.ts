import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Connection, waitBefore, type Socket, type State } from './connection';
import { read, type LiveEvent } from './events';

const HELLO = JSON.stringify({ type: 'hello', person_id: 'ann', at: '2026-01-01T00:00:00Z' });
const LONG_MS = 60_000;

class Line implements Socket {
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  readyState = 0;
  isClosed = false;

  say(frame: string): void {
    this.readyState = 1;
    this.onmessage?.({ data: frame });
  }

  close(): void {
    this.isClosed = true;
  }
}

/** A connection in a world where lines break and servers answer as the test wants. */
function listening(recognised: () => Promise<boolean> = () => Promise.resolve(true)) {
  const lines: Line[] = [];
  const heard: LiveEvent[] = [];
  const states: State[] = [];
  const around = {
    dial: () => lines[lines.push(new Line()) - 1] as Line,
    read,
    isRecognised: recognised,
    random: () => 1,
  };
  const connection = new Connection<LiveEvent>(
    around,
    (event) => heard.push(event),
    (state) => states.push(state),
  );
  connection.start();
  return { connection, lines, heard, states, last: () => lines.at(-1) as Line };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a frame of the live connection', () => {
  it('is news of a kind that we know', () => {
    expect(read('{"type":"room.changed","room_id":"r"}')).toEqual({ type: 'room.changed', room_id: 'r' });
  });

  it.each([
    '',
    'no json',
    'null',
    '[]',
    '"text"',
    '{"type":7}',
    '{"type":"toString"}',
    '{"type":"new.kind"}',
  ])('is passed over when it is %s', (frame) => expect(read(frame)).toBeUndefined());

  it('is passed over when it is no text', () => expect(read(new ArrayBuffer(8))).toBeUndefined());
});

describe('the wait before the next attempt', () => {
  it('grows, and stops growing', () => {
    expect([0, 1, 2, 6, 99].map((attempt) => waitBefore(attempt, 1))).toEqual([
      500, 1000, 2000, 30_000, 30_000,
    ]);
  });

  it('is spread, but never nothing', () => {
    expect(waitBefore(2, 0)).toBe(1000);
    expect(waitBefore(2, 0.5)).toBe(1500);
  });
});

describe('a connection', () => {
  it('stands once the server has said hello, and passes on what it says', () => {
    const { last, heard, states } = listening();
    last().say(HELLO);
    last().say('{"type":"room.changed","room_id":"r"}');
    expect(states).toEqual(['connecting', 'connected']);
    expect(heard).toEqual([JSON.parse(HELLO), { type: 'room.changed', room_id: 'r' }]);
  });

  it('that was lost is opened again, and then everything is read again', async () => {
    const { last, lines, heard, states } = listening();
    last().say(HELLO);
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(LONG_MS / 100);
    last().say(HELLO);
    expect(lines).toHaveLength(2);
    expect(states).toEqual(['connecting', 'connected', 'lost', 'connected']);
    expect(heard).toEqual([JSON.parse(HELLO), { type: 'resync' }]);
  });

  it('says once that it stands, so that what was read before can be read again', async () => {
    const { last, heard } = listening();
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(LONG_MS / 100);
    last().say(HELLO);
    expect(heard).toEqual([JSON.parse(HELLO)]);
  });

  it('is not opened for somebody whom the server does not know any more', async () => {
    const { last, lines, states } = listening(() => Promise.resolve(false));
    last().say(HELLO);
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(LONG_MS);
    expect(lines).toHaveLength(1);
    expect(states.at(-1)).toBe('off');
  });

  it('waits on while the server does not answer', async () => {
    const asked = vi.fn(() => Promise.reject(new Error('no answer')));
    const { last, lines } = listening(asked);
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(2 * LONG_MS);
    expect(lines).toHaveLength(1);
    expect(asked.mock.calls.length).toBeGreaterThan(3);
    expect(asked.mock.calls.length).toBeLessThan(12);
  });

  it('that never says hello is given up for another', async () => {
    const { lines } = listening();
    await vi.advanceTimersByTimeAsync(LONG_MS / 3);
    expect(lines).toHaveLength(2);
  });

  it('is opened once, however often somebody is in a hurry', async () => {
    const { connection, last, lines } = listening();
    last().say(HELLO);
    connection.suspect();
    connection.hurry();
    connection.hurry();
    await vi.advanceTimersByTimeAsync(0);
    connection.hurry();
    await vi.advanceTimersByTimeAsync(0);
    expect(lines).toHaveLength(2);
    expect(lines[0]?.isClosed).toBe(true);
  });

  it('that never says hello is given up even if somebody is in a hurry meanwhile', async () => {
    const { connection, last, lines } = listening();
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(LONG_MS / 100);
    connection.hurry();
    await vi.advanceTimersByTimeAsync(LONG_MS / 3);
    expect(lines).toHaveLength(3);
  });

  it('that is stopped hears nothing more and stays so', async () => {
    const { connection, last, lines, heard } = listening();
    const line = last();
    connection.stop();
    line.say('{"type":"room.changed","room_id":"r"}');
    line.onopen?.();
    await vi.advanceTimersByTimeAsync(LONG_MS);
    expect(heard).toEqual([]);
    expect(line.isClosed).toBe(true);
    expect(lines).toHaveLength(1);
  });
});
