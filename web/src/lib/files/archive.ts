// Builds a ZIP archive of blobs without reading them again.

export type ArchiveFile = { path: string; bytes: Blob; crc32: number };

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const NAMES_ARE_UTF8 = 0x0800;

/** Stored as they are; for up to 65,535 files and 4 GiB, which is more than a browser should hold. */
export function archiveOf(files: readonly ArchiveFile[], at = new Date()): Blob {
  const body: BlobPart[] = [];
  const directory: BlobPart[] = [];
  let [offset, directoryBytes] = [0, 0];
  for (const { path, bytes, crc32 } of files) {
    const name = new TextEncoder().encode(path);
    const facts = [VERSION, NAMES_ARE_UTF8, 0, ...dosTime(at)];
    const sizes = [crc32, bytes.size, bytes.size];
    const header = packed([LOCAL], facts, sizes, [name.length, 0]);
    const entry = packed([CENTRAL], [VERSION, ...facts], sizes, [name.length, 0, 0, 0, 0], [0, offset]);
    body.push(header, name, bytes);
    directory.push(entry, name);
    offset += header.byteLength + name.length + bytes.size;
    directoryBytes += entry.byteLength + name.length;
  }
  const end = packed([END], [0, 0, files.length, files.length], [directoryBytes, offset], [0]);
  return new Blob([...body, ...directory, end], { type: 'application/zip' });
}

/** Packs groups of numbers, of four bytes and of two bytes alternately, as the records of the format begin. */
function packed(...groups: number[][]): ArrayBuffer {
  const widths = groups.map((_, index) => (index % 2 ? 2 : 4));
  const view = new DataView(
    new ArrayBuffer(groups.reduce((sum, group, index) => sum + group.length * (widths[index] ?? 0), 0)),
  );
  let at = 0;
  groups.forEach((group, index) => {
    for (const value of group) {
      if (index % 2) view.setUint16(at, value, true);
      else view.setUint32(at, value, true);
      at += widths[index] ?? 0;
    }
  });
  return view.buffer;
}

function dosTime(moment: Date): [time: number, date: number] {
  return [
    (moment.getHours() << 11) | (moment.getMinutes() << 5) | (moment.getSeconds() >> 1),
    ((moment.getFullYear() - 1980) << 9) | ((moment.getMonth() + 1) << 5) | moment.getDate(),
  ];
}
