// The inverse of the server's placeholder of a picture (github.com/evanw/thumbhash): a blurred image of a few bytes.

/** Pixels of a small image, four bytes each. */
export type Blur = { width: number; height: number; rgba: Uint8ClampedArray<ArrayBuffer> };

const EDGE = 32;
const drawn = new Map<string, string>();

/** The placeholder as the address of an image; undefined if it cannot be drawn. */
export function placeholderAddress(placeholder: string): string | undefined {
  const known = drawn.get(placeholder);
  if (known !== undefined) return known;
  const { width, height, rgba } = blurOf(
    Uint8Array.from(atob(placeholder), (letter) => letter.charCodeAt(0)),
  );
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext('2d');
  if (!context) return undefined;
  context.putImageData(new ImageData(rgba, width, height), 0, 0);
  const address = canvas.toDataURL();
  // Whoever scrolls back sees the same ones again.
  if (drawn.size >= 1000) drawn.clear();
  drawn.set(placeholder, address);
  return address;
}

export function blurOf(hash: Uint8Array): Blur {
  const byte = (index: number): number => hash[index] ?? 0;
  const first = byte(0) | (byte(1) << 8) | (byte(2) << 16);
  const second = byte(3) | (byte(4) << 8);
  const hasAlpha = first >> 23 === 1;
  const isLandscape = second >> 15 === 1;
  const shorter = Math.max(3, second & 7);
  const longer = hasAlpha ? 5 : 7;
  const columns = isLandscape ? longer : shorter;
  const rows = isLandscape ? shorter : longer;
  const base = {
    light: (first & 63) / 63,
    yellow: ((first >> 6) & 63) / 31.5 - 1,
    red: ((first >> 12) & 63) / 31.5 - 1,
    alpha: hasAlpha ? (byte(5) & 15) / 15 : 1,
  };
  let nibble = (hasAlpha ? 6 : 5) * 2;

  function terms(across: number, down: number, scale: number): number[] {
    const found: number[] = [];
    for (let row = 0; row < down; row++)
      for (let column = row ? 0 : 1; column * down < across * (down - row); column++, nibble++)
        found.push((((byte(nibble >> 1) >> ((nibble & 1) * 4)) & 15) / 7.5 - 1) * scale);
    return found;
  }

  const light = terms(columns, rows, ((first >> 18) & 31) / 31);
  // A little more colour than was written, since rounding takes some away.
  const yellow = terms(3, 3, (((second >> 3) & 63) / 63) * 1.25);
  const red = terms(3, 3, (((second >> 9) & 63) / 63) * 1.25);
  const alpha = hasAlpha ? terms(5, 5, (byte(5) >> 4) / 15) : [];

  const ratio = ratioOf(hash);
  const width = Math.max(1, Math.round(ratio > 1 ? EDGE : EDGE * ratio));
  const height = Math.max(1, Math.round(ratio > 1 ? EDGE / ratio : EDGE));
  const rgba = new Uint8ClampedArray(width * height * 4);
  for (let y = 0, place = 0; y < height; y++)
    for (let x = 0; x < width; x++, place += 4) {
      const across = wave(x, width);
      const down = wave(y, height);
      const l = sum(base.light, light, columns, rows, across, down);
      const p = sum(base.yellow, yellow, 3, 3, across, down);
      const q = sum(base.red, red, 3, 3, across, down);
      const blue = l - (2 / 3) * p;
      const redness = (3 * l - blue + q) / 2;
      const seen = hasAlpha ? sum(base.alpha, alpha, 5, 5, across, down) : 1;
      rgba.set(
        [redness, redness - q, blue, seen].map((value) => 255 * Math.min(1, value)),
        place,
      );
    }
  return { width, height, rgba };
}

function ratioOf(hash: Uint8Array): number {
  const hasAlpha = ((hash[2] ?? 0) & 128) !== 0;
  const isLandscape = ((hash[4] ?? 0) & 128) !== 0;
  const longer = hasAlpha ? 5 : 7;
  const shorter = Math.max(1, (hash[3] ?? 0) & 7);
  return isLandscape ? longer / shorter : shorter / longer;
}

function wave(place: number, length: number): number[] {
  return Array.from({ length: 7 }, (_, term) => Math.cos((Math.PI / length) * (place + 0.5) * term));
}

function sum(
  constant: number,
  terms: readonly number[],
  across: number,
  down: number,
  columns: readonly number[],
  rows: readonly number[],
): number {
  let found = constant;
  let index = 0;
  for (let row = 0; row < down; row++)
    for (let column = row ? 0 : 1; column * down < across * (down - row); column++, index++)
      found += (terms[index] ?? 0) * (columns[column] ?? 0) * (rows[row] ?? 0) * 2;
  return found;
}
