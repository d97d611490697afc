// CRC-32, piece by piece, as ZIP archives need it.

// Eight bytes at a step, each with a table of its own: three times as fast as one byte after the other.
const STEP = 8;
const TABLES = tables();

/** What comes of `bytes` after those whose checksum is `before`. */
export function crc32(bytes: Uint8Array, before = 0): number {
  const whole = bytes.length - (bytes.length % STEP);
  let value = ~before;
  for (let at = 0; at < whole; at += STEP) value = stepped(value, bytes, at);
  for (let at = whole; at < bytes.length; at++) {
    value = (TABLES[(value ^ (bytes[at] as number)) & 0xff] as number) ^ (value >>> 8);
  }
  return ~value >>> 0;
}

function stepped(value: number, bytes: Uint8Array, at: number): number {
  return (
    (TABLES[0x700 + ((value ^ (bytes[at] as number)) & 0xff)] as number) ^
    (TABLES[0x600 + (((value >>> 8) ^ (bytes[at + 1] as number)) & 0xff)] as number) ^
    (TABLES[0x500 + (((value >>> 16) ^ (bytes[at + 2] as number)) & 0xff)] as number) ^
    (TABLES[0x400 + ((value >>> 24) ^ (bytes[at + 3] as number))] as number) ^
    (TABLES[0x300 + (bytes[at + 4] as number)] as number) ^
    (TABLES[0x200 + (bytes[at + 5] as number)] as number) ^
    (TABLES[0x100 + (bytes[at + 6] as number)] as number) ^
    (TABLES[bytes[at + 7] as number] as number)
  );
}

/** What a byte does that is followed by none to seven others. */
function tables(): Int32Array {
  const made = new Int32Array(STEP * 256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    made[byte] = value;
  }
  for (let at = 256; at < made.length; at++) {
    const before = made[at - 256] as number;
    made[at] = (made[before & 0xff] as number) ^ (before >>> 8);
  }
  return made;
}
