import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { solve } from './work';

describe('a proof of work', () => {
  it('begins with as many zero bits as were asked for', async () => {
    const work = await solve('a-challenge', 12);
    expect(work).toMatch(/^a-challenge\.\d+$/);
    expect(createHash('sha256').update(work).digest().readUInt32BE() >>> 20).toBe(0);
  });
});
