// The checksum that an archive wants of every file in it, piece by piece.

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** What comes of `bytes` after those whose checksum is `before`. */
export function crc32(bytes: Uint8Array, before = 0): number {
  let value = ~before;
  for (let at = 0; at < bytes.length; at++) {
    value = (TABLE[(value ^ (bytes[at] as number)) & 0xff] as number) ^ (value >>> 8);
  }
  return ~value >>> 0;
}
