import { describe, expect, it } from 'vitest';
import type { Bytes } from './bytes';
import { PieceReader, sourceOf, type Source } from './pieces';
import { release } from './release';
import { bodyOf, chunksOf } from './testVectors';

const content = Uint8Array.from({ length: 100 }, (_, at) => at);

/** A byte stream, as responses and files are in browsers. */
function byteStreamOf(bytes: Bytes, piece: number): ReadableStream<Bytes> {
  const pieces = chunksOf(bytes, piece);
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      const next = pieces.shift();
      if (next) controller.enqueue(next);
      else {
        controller.close();
        controller.byobRequest?.respond(0);
      }
    },
  });
}

async function taken(source: Source, length: number): Promise<number[][]> {
  const reader = new PieceReader(source, length);
  const pieces: number[][] = [];
  while (await reader.fill()) {
    pieces.push([...reader.here]);
    reader.pass(length);
  }
  return [...pieces, [...reader.here]];
}

describe.each([
  ['that fills our own memory', byteStreamOf],
  ['that brings memory of its own', bodyOf],
])('a stream %s', (_, streamOf) => {
  it.each([1, 7, 40, 99, 100])('comes in pieces of one length, however it was cut: by %i', async (cut) => {
    const pieces = await taken(sourceOf(streamOf(content, cut)), 40);
    expect(pieces.map(({ length }) => length)).toEqual([40, 40, 20]);
    expect(pieces.flat()).toEqual([...content]);
  });

  it.each([1, 7, 100])('comes whole through a buffer that is shorter than it: cut by %i', async (cut) => {
    expect((await taken(sourceOf(streamOf(content, cut)), 3)).flat()).toEqual([...content]);
  });

  it('has nothing left if its last piece is whole', async () => {
    expect((await taken(sourceOf(streamOf(content, 30)), 50)).map(({ length }) => length)).toEqual([
      50, 50, 0,
    ]);
  });

  it('keeps what was not passed for the next piece', async () => {
    const reader = new PieceReader(sourceOf(streamOf(content, 33)), 60);
    await reader.fill();
    reader.pass(50);
    expect([...reader.here].slice(0, 10)).toEqual([...content.slice(50, 60)]);
    expect(await reader.fill()).toBe(false);
    expect([...reader.here]).toEqual([...content.slice(50)]);
  });
});

it('a stream is ended when nobody wants more of it', async () => {
  const ended = new Promise<void>((resolve) => {
    sourceOf(new ReadableStream<Bytes>({ cancel: () => resolve() })).cancel();
  });
  await ended;
});

it('memory that was released is gone', () => {
  const bytes = new Uint8Array(16);
  release(bytes);
  // Engines that cannot release it leave it as it is.
  expect([0, 16]).toContain(bytes.length);
});
