import { describe, expect, it } from 'vitest';
import { archiveOf } from './archive';
import { crc32 } from './crc32';

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

describe('the checksum of an archive', () => {
  it('of the nine digits is the one that every description of it gives', () => {
    expect(crc32(bytes('123456789'))).toBe(0xcbf43926);
  });

  it('does not depend on how the bytes are cut', () => {
    expect(crc32(bytes('6789'), crc32(bytes('12345')))).toBe(0xcbf43926);
    expect(crc32(bytes(''), 0xcbf43926)).toBe(0xcbf43926);
  });
});

describe('an archive', () => {
  const files = [
    { path: 'hello.txt', bytes: new Blob(['hello']), crc32: crc32(bytes('hello')) },
    { path: '樂譜/空.txt', bytes: new Blob([]), crc32: 0 },
  ];

  it('says at its end how many files there are and where they are listed', async () => {
    const view = new DataView(await archiveOf(files).arrayBuffer());
    const end = view.byteLength - 22;
    expect(view.getUint32(end, true)).toBe(0x06054b50);
    expect(view.getUint16(end + 10, true)).toBe(2);
    const [size, at] = [view.getUint32(end + 12, true), view.getUint32(end + 16, true)];
    expect(at + size).toBe(end);
    expect(view.getUint32(at, true)).toBe(0x02014b50);
  });

  it('holds the bytes and the names as they are', async () => {
    const whole = await archiveOf(files).text();
    expect(whole).toContain('hello.txthello');
    expect(whole.split('樂譜/空.txt')).toHaveLength(3);
  });

  it('lists where each file begins', async () => {
    const view = new DataView(await archiveOf(files).arrayBuffer());
    const listed = view.getUint32(view.byteLength - 22 + 16, true);
    const second = listed + 46 + 'hello.txt'.length;
    const at = view.getUint32(second + 42, true);
    expect(view.getUint32(at, true)).toBe(0x04034b50);
    expect(at).toBe(30 + 'hello.txt'.length + 5);
  });
});
