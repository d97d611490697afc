import { expect, it } from 'vitest';
import type { Bytes } from '../crypto/bytes';
import { SegmentBuffer } from './segments';

async function bytesOf(blob: Blob): Promise<number[]> {
  return [...new Uint8Array(await blob.arrayBuffer())];
}

function later(bytes: Bytes, ms: number): Promise<Bytes> {
  return new Promise((resolve) => setTimeout(() => resolve(bytes), ms));
}

it('keeps records in order, whichever is sealed first', async () => {
  const buffer = new SegmentBuffer(8);
  buffer.add(later(Uint8Array.of(1, 2), 5));
  buffer.add(later(Uint8Array.of(3), 0));
  expect(await bytesOf(await buffer.take())).toEqual([1, 2, 3]);
});

it('leaves a segment that was taken as it was', async () => {
  const buffer = new SegmentBuffer(2);
  buffer.add(Promise.resolve(Uint8Array.of(1, 2)));
  const first = await buffer.take();
  buffer.add(Promise.resolve(Uint8Array.of(3)));
  expect(await bytesOf(await buffer.take())).toEqual([3]);
  expect(await bytesOf(first)).toEqual([1, 2]);
});

it('gives out no segment of which a record could not be sealed', async () => {
  const buffer = new SegmentBuffer(8);
  buffer.add(Promise.reject(new Error('not sealed')));
  buffer.add(Promise.resolve(Uint8Array.of(1)));
  await expect(buffer.take()).rejects.toThrow('not sealed');
});
