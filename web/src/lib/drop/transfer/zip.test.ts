import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { concat, type Bytes } from '../crypto/bytes';
import { ZipWriter } from './zip';

const folder = mkdtempSync(join(tmpdir(), 'zip'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What Python makes of an archive: name, size and bytes of everything inside, after it has checked the sums. */
type Listed = { name: string; size: number; text: string; modified: number[]; mode: number; stamp: string };

function readByPython(bytes: Uint8Array): Listed[] {
  const path = join(folder, 'archive.zip');
  writeFileSync(path, bytes);
  const program = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps([
        {"name": each.filename, "size": each.file_size, "text": archive.read(each)[:99].decode(), "modified": each.date_time,
         "mode": each.external_attr >> 16, "stamp": each.extra.hex()}
        for each in archive.infolist()
    ]))`;
  return JSON.parse(execFileSync('python3', ['-c', program, path], { encoding: 'utf8', maxBuffer: 2 ** 26 }));
}

function text(letters: string): Bytes {
  return new TextEncoder().encode(letters);
}

describe('an archive that is written front to back', () => {
  const modified = new Date(2026, 10, 16, 5, 30, 20);

  it('is read by others, with names in every script, times, empty files and folders', () => {
    const zip = new ZipWriter();
    const written = concat(
      zip.begin('樂譜/hello.txt', modified, 11, true),
      ...['hello ', 'world'].map((part) => (zip.add(text(part)), text(part))),
      zip.end(),
      zip.begin('empty.txt', modified, 0),
      zip.end(),
      zip.begin('nothing inside/', modified, 0),
      zip.end(),
      zip.finish(),
    );
    const seconds = Buffer.alloc(4);
    seconds.writeInt32LE(+modified / 1000);
    const facts = { modified: [2026, 11, 16, 5, 30, 20], stamp: `5554050001${seconds.toString('hex')}` };
    expect(readByPython(written)).toEqual([
      { name: '樂譜/hello.txt', size: 11, text: 'hello world', mode: 0o100755, ...facts },
      { name: 'empty.txt', size: 0, text: '', mode: 0o100644, ...facts },
      { name: 'nothing inside/', size: 0, text: '', mode: 0o040755, ...facts },
    ]);
  });

  it('may have nothing inside', () => {
    expect(readByPython(new ZipWriter().finish())).toEqual([]);
  });

  it('may have more files than the first version of the format could count', () => {
    const zip = new ZipWriter();
    const written = Array.from({ length: 66_000 }, (_, index) =>
      concat(zip.begin(`${index}`, modified, 0), zip.end()),
    );
    const listed = readByPython(Buffer.concat([...written, zip.finish()]));
    expect(listed).toHaveLength(66_000);
    expect(listed.at(-1)?.name).toBe('65999');
  }, 60_000);

  it('may have files larger than the first version could tell, and more behind them', () => {
    const large = 4 * 2 ** 30 + 2 ** 26;
    const zip = new ZipWriter();
    const path = join(folder, 'large.zip');
    const piece = new Uint8Array(64 * 2 ** 20);
    const head = zip.begin('large', modified, large);
    for (let at = 0; at < large; at += piece.length) zip.add(piece);
    const tail = concat(
      zip.end(),
      zip.begin('small', modified, 2),
      (zip.add(text('ok')), text('ok')),
      zip.end(),
    );
    // The zeros between are a hole: nobody has to write them.
    const program = `
import sys, zipfile
head, tail, path, large = bytes.fromhex(sys.argv[1]), bytes.fromhex(sys.argv[2]), sys.argv[3], int(sys.argv[4])
with open(path, "wb") as file:
    file.write(head)
    file.seek(large, 1)
    file.write(tail)
with zipfile.ZipFile(path) as archive:
    print([each.file_size for each in archive.infolist()], archive.read("small"))`;
    const hex = (bytes: Bytes): string => Buffer.from(bytes).toString('hex');
    const given = [hex(head), hex(concat(tail, zip.finish())), path, String(large)];
    const said = execFileSync('python3', ['-c', program, ...given], { encoding: 'utf8' });
    expect(said.trim()).toBe(`[${large}, 2] b'ok'`);
  }, 120_000);
});
