import { describe, expect, it } from 'vitest';
import { concat, fromHex, toHex, type Bytes } from './bytes';
import { BrokenOff, Tampered } from './errors';
import { isRefusal, receiptFor, refusalFor, type Stream } from './keys';
import { sourceOf } from './pieces';
import { ChainDigest, Opener, sealedBytes, Sealer } from './records';
import { gcmKey } from './seal';
import { bodyOf, chunksOf, flipped, streamOf, vectors } from './testVectors';

const { streams } = vectors.drop;
const DIGEST_KEY = await gcmKey(new Uint8Array(32));
const emptyDigest = () => new ChainDigest(DIGEST_KEY);

async function sealed(stream: Stream, content: Bytes, digest = emptyDigest()): Promise<Bytes[]> {
  const sealer = new Sealer(stream, digest);
  const chunks = chunksOf(content.slice(stream.first * stream.chunk), stream.chunk);
  const records = await Promise.all(chunks.map((chunk) => sealer.seal(chunk)));
  return [...records, await sealer.final()];
}

async function opened(stream: Stream, body: ReadableStream<Bytes>, digest = emptyDigest()): Promise<Bytes> {
  const chunks: Bytes[] = [];
  for await (const { chunk } of new Opener(stream, digest).open(sourceOf(body))) chunks.push(chunk);
  return concat(...chunks);
}

describe.each(streams)('a content of $length bytes in chunks of $chunk from $first', (vector) => {
  const content = fromHex(vector.content);
  const records = [...vector.records, vector.last];
  const before = async () =>
    new ChainDigest(
      await gcmKey(fromHex(vector.digest_key)),
      vector.first,
      fromHex(vector.digests[vector.first] as string),
    );

  it('is sealed as the other half seals it', async () => {
    const stream = await streamOf(vector);
    expect((await sealed(stream, content, await before())).map(toHex)).toEqual(records);
    expect(sealedBytes(stream)).toBe(vector.sealed_bytes);
    expect(records.join('').length / 2).toBe(vector.sealed_bytes);
  });

  it('is opened however it is cut on its way', async () => {
    const stream = await streamOf(vector);
    const line = fromHex(records.join(''));
    for (const piece of [1, 7, 16, 47, 48, 64, 100, line.length]) {
      for (const length of [vector.length, null]) {
        const chunks = await opened({ ...stream, length }, bodyOf(line, piece), await before());
        expect(toHex(chunks)).toBe(toHex(content.slice(vector.first * vector.chunk)));
      }
    }
  });

  it('has after each chunk the digest by which it can be taken up there', async () => {
    const stream = await streamOf(vector);
    const had: string[] = [];
    for await (const { chunks, digest } of new Opener(stream, await before()).open(
      sourceOf(bodyOf(fromHex(records.join('')))),
    )) {
      had.push(`${chunks} ${toHex(digest)}`);
    }
    const digests = vector.digests.map((digest, chunks) => `${chunks} ${digest}`);
    expect(had).toEqual(digests.slice(vector.first + 1));
  });

  it('has the receipt that the other half has', async () => {
    const digest = fromHex(vector.digests.at(-1) as string);
    expect(toHex(await receiptFor(await streamOf(vector), digest))).toBe(vector.receipt);
    expect(toHex(await refusalFor(await streamOf(vector)))).toBe(vector.refusal);
    expect(await isRefusal(await streamOf(vector), fromHex(vector.receipt))).toBe(false);
  });

  it('is never finished when it was cut, wherever', async () => {
    const stream = await streamOf(vector);
    const line = fromHex(records.join(''));
    for (let length = 0; length < line.length; length++) {
      const cut = bodyOf(line.slice(0, length), 50);
      await expect(opened(stream, cut, await before()), `of ${length}`).rejects.toThrow(BrokenOff);
    }
  });

  it('is never finished when one bit is another, wherever', async () => {
    const stream = await streamOf(vector);
    const line = fromHex(records.join(''));
    for (let at = 0; at < line.length; at += 5) {
      await expect(opened(stream, bodyOf(flipped(line, at)), await before())).rejects.toThrow(Tampered);
    }
  });
});

describe('what a hostile server may do', () => {
  const content = Uint8Array.from({ length: 130 }, (_, at) => at);
  const vector = { key: '11'.repeat(32), receipt_key: '22'.repeat(32), length: 130, chunk: 32, first: 0 };

  it.each<[string, (records: Bytes[]) => Bytes[]]>([
    ['exchange two records', ([a, b, ...rest]) => [b, a, ...rest] as Bytes[]],
    ['repeat one', ([a, ...rest]) => [a, a, ...rest] as Bytes[]],
    ['leave the first one out', (records) => records.slice(1)],
    ['put something behind the end', (records) => [...records, new Uint8Array(200)]],
    ['send everything twice', (records) => [...records, ...records]],
    ['put the last record first', (records) => [records.at(-1) as Bytes, ...records.slice(0, -1)]],
  ])('is noticed: %s', async (_, change) => {
    for (const length of [130, null]) {
      const stream = { ...(await streamOf(vector)), length };
      const line = concat(...change(await sealed(stream, content)));
      await expect(opened(stream, bodyOf(line, 40))).rejects.toThrow(Tampered);
    }
  });

  it('is noticed: end it behind any record', async () => {
    const stream = await streamOf(vector);
    const records = await sealed(stream, content);
    for (let count = 0; count < records.length; count++) {
      for (const length of [130, null]) {
        const cut = bodyOf(concat(...records.slice(0, count)));
        await expect(opened({ ...stream, length }, cut)).rejects.toThrow(BrokenOff);
      }
    }
  });
});

describe('what an owner may do wrong', () => {
  const vector = { key: '33'.repeat(32), receipt_key: '44'.repeat(32), length: 64, chunk: 32, first: 0 };

  it('does not finish when more, or less, comes than was agreed on', async () => {
    const stream = await streamOf(vector);
    for (const length of [0, 40, 63, 65, 96, 200]) {
      const line = await sealed({ ...stream, length }, new Uint8Array(length));
      await expect(opened(stream, bodyOf(concat(...line), 30))).rejects.toThrow(/agreed|not what|ended/);
    }
  });

  it('does not finish when the beginning is another than the receiver has', async () => {
    const stream = await streamOf({ ...vector, first: 1 });
    const line = await sealed(
      stream,
      new Uint8Array(64),
      new ChainDigest(DIGEST_KEY, 1, new Uint8Array(32).fill(1)),
    );
    const other = new ChainDigest(DIGEST_KEY, 1, new Uint8Array(32).fill(2));
    await expect(opened(stream, bodyOf(concat(...line)), other)).rejects.toThrow(Tampered);
  });

  it('is not sealed: a chunk behind a short one, an empty one, one too long, or another length', async () => {
    const stream = await streamOf(vector);
    const sealer = new Sealer(stream, emptyDigest());
    await expect(sealer.seal(new Uint8Array())).rejects.toThrow(RangeError);
    await expect(sealer.seal(new Uint8Array(33))).rejects.toThrow(RangeError);
    await sealer.seal(new Uint8Array(31));
    await expect(sealer.seal(new Uint8Array(1))).rejects.toThrow(RangeError);
    await expect(sealer.final()).rejects.toThrow(RangeError);
  });

  it('is not begun with the digest of another beginning', async () => {
    const stream = await streamOf({ ...vector, first: 1 });
    expect(() => new Sealer(stream, emptyDigest())).toThrow(RangeError);
    expect(() => new Opener(stream, emptyDigest())).toThrow(RangeError);
  });
});

describe('a line', () => {
  const vector = { key: '55'.repeat(32), receipt_key: '66'.repeat(32), length: 320, chunk: 32, first: 0 };

  it('is ended when nobody wants more of it, or it was tampered with', async () => {
    const stream = await streamOf(vector);
    const line = concat(...(await sealed(stream, new Uint8Array(320))));
    for (const bytes of [line, flipped(line, 60)]) {
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const body = new ReadableStream<Bytes>({ pull: (line) => line.enqueue(bytes), cancel: end });
      const reading = new Opener(stream, emptyDigest()).open(sourceOf(body));
      await reading.next();
      await reading.next().then(
        () => reading.return(),
        (error: unknown) => expect(error).toBeInstanceOf(Tampered),
      );
      await ended;
    }
  });

  it('gives out each chunk as soon as it is here, not only when more comes', async () => {
    const stream = await streamOf(vector);
    const line = concat(...(await sealed(stream, new Uint8Array(320))));
    const body = new ReadableStream<Bytes>({
      start: (controller) => controller.enqueue(line.slice(0, 48 + 64)),
    });
    const { value } = await new Opener(stream, emptyDigest()).open(sourceOf(body)).next();
    expect(value).toMatchObject({ chunks: 1 });
  });

  it('that fails tells its own failure', async () => {
    const stream = await streamOf(vector);
    const body = new ReadableStream<Bytes>({
      start: (controller) => controller.error(new TypeError('lost')),
    });
    await expect(opened(stream, body)).rejects.toThrow(TypeError);
  });
});

it('lets a buffer be used again at once', async () => {
  const stream = await streamOf({
    key: '77'.repeat(32),
    receipt_key: '88'.repeat(32),
    length: 96,
    chunk: 32,
    first: 0,
  });
  const sealer = new Sealer(stream, emptyDigest());
  const buffer = new Uint8Array(32);
  const records: Promise<Bytes>[] = [];
  for (const fill of [1, 2, 3]) records.push(sealer.seal(buffer.fill(fill)));
  const line = concat(...(await Promise.all(records)), await sealer.final());
  const content = await opened(stream, bodyOf(line));
  expect([content[0], content[32], content[64]]).toEqual([1, 2, 3]);
});
