// The inverse of the server's placeholder of a picture (github.com/evanw/thumbhash): a blurred image of a few bytes.

/** Pixels of a small image, four bytes each. */
export type Blur = { width: number; height: number; rgba: Uint8ClampedArray<ArrayBuffer> };

const EDGE = 32;
const TERMS = 7;
const drawn = new Map<string, string>();
const waves = new Map<number, Float64Array[]>();
let canvas: HTMLCanvasElement | undefined;

/** The placeholder as the address of an image; undefined if it cannot be drawn. */
export function placeholderAddress(placeholder: string): string | undefined {
  const known = drawn.get(placeholder);
  if (known !== undefined) return known;
  const { width, height, rgba } = blurOf(
    Uint8Array.from(atob(placeholder), (letter) => letter.charCodeAt(0)),
  );
  // One for all, kept in memory and not by the graphics card: a grid draws hundreds.
  canvas ??= document.createElement('canvas');
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext('2d', { willReadFrequently: true });
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
  const across = wavesOf(width);
  const down = wavesOf(height);
  for (let y = 0, place = 0; y < height; y++) {
    // Terms of a line first, so that each pixel adds up as many as there are columns.
    const lines = down[y] as Float64Array;
    const l = line(light, columns, rows, lines);
    const p = line(yellow, 3, 3, lines);
    const q = line(red, 3, 3, lines);
    const a = hasAlpha ? line(alpha, 5, 5, lines) : undefined;
    for (let x = 0; x < width; x++, place += 4) {
      const places = across[x] as Float64Array;
      const brightness = base.light + dot(l, places);
      const yellowness = base.yellow + dot(p, places);
      const blue = brightness - (2 / 3) * yellowness;
      const redness = (3 * brightness - blue + base.red + dot(q, places)) / 2;
      rgba[place] = 255 * redness;
      rgba[place + 1] = 255 * (redness - base.red - dot(q, places));
      rgba[place + 2] = 255 * blue;
      rgba[place + 3] = a ? 255 * (base.alpha + dot(a, places)) : 255;
    }
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

/** For each place on a line, what each term is there. */
function wavesOf(length: number): Float64Array[] {
  let found = waves.get(length);
  if (!found) {
    found = Array.from({ length }, (_, place) =>
      Float64Array.from({ length: TERMS }, (_, term) => Math.cos((Math.PI / length) * (place + 0.5) * term)),
    );
    waves.set(length, found);
  }
  return found;
}

/** What a line of pixels has of each term across. */
function line(terms: readonly number[], columns: number, rows: number, down: Float64Array): Float64Array {
  const found = new Float64Array(columns);
  let index = 0;
  for (let row = 0; row < rows; row++)
    for (let column = row ? 0 : 1; column * rows < columns * (rows - row); column++, index++)
      found[column] = (found[column] ?? 0) + (terms[index] ?? 0) * (down[row] ?? 0) * 2;
  return found;
}

function dot(terms: Float64Array, places: Float64Array): number {
  let found = 0;
  for (let term = 0; term < terms.length; term++) found += (terms[term] ?? 0) * (places[term] ?? 0);
  return found;
}
