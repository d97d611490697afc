// Makes names that somebody else chose safe to write: whatever a path claims, it stays inside, and people see what it is.

const MOST_BYTES = 200;
// What systems can hold.
const MOST_KEPT_BYTES = 255;
// Control characters, marks that turn the reading direction around, halves of characters, line ends.
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d\u{e0020}-\u{e007f}])\p{Cf}/gu;
// Windows takes none of these, and reads a colon as a drive or a hidden stream.
const FORBIDDEN = /[<>:"|?*]/g;
const EDGES = /^[.\s]+|[.\s]+$/g;
// No system has these in a name, and some read a backslash as the end of a folder.
const IMPOSSIBLE = /[\0\\]|\p{Cs}/gu;
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|$)/i;

/** The last part of what was given as a name, as every system can store it. */
export function cleanName(written: string, nameless = 'file'): string {
  return cleanPath(written).at(-1) ?? nameless;
}

/** The parts of a path from the top down; what leads upwards, to the root or nowhere is dropped. */
export function cleanPath(written: string): string[] {
  return written.normalize('NFC').split(/[/\\]/).map(cleanPart).filter(Boolean);
}

/** The parts of a path inside an archive, each as it is, if any system could store it. None leads out of it. */
export function keptPath(written: string): string[] {
  const parts = written.replace(IMPOSSIBLE, '_').split('/');
  return parts.filter((part) => !['', '.', '..'].includes(part)).map((part) => fit(part, MOST_KEPT_BYTES));
}

/** Tells apart what came twice. */
export class UsedPaths {
  /** Each with the last number that was tried behind it: thousands of equal names would take thousands of tries each. */
  #used = new Map<string, number>();

  unused(path: string): string {
    let [free, number] = [path, this.#used.get(path)];
    if (number !== undefined) {
      do free = numbered(path, ++number);
      while (this.#used.has(free));
      this.#used.set(path, number);
    }
    this.#used.set(free, 0);
    return free;
  }
}

function cleanPart(written: string): string {
  const seen = written.replace(UNSEEN, '').replace(FORBIDDEN, '_').replace(EDGES, '');
  const fitting = fit(seen, MOST_BYTES).replace(EDGES, '');
  return RESERVED.test(fitting) ? `_${fitting}` : fitting;
}

/** Cut in the middle, so that the extension stays. */
function fit(name: string, most: number): string {
  if (bytesOf(name) <= most) return name;
  const [, stem = '', extension = ''] = /^(.+?)(\.[^.\s]{1,16})?$/su.exec(name) ?? [];
  let letters = Array.from(stem).slice(0, most);
  while (bytesOf(letters.join('') + extension) > most) letters = letters.slice(0, -1);
  return letters.join('') + extension;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function numbered(path: string, number: number): string {
  const [, stem = path, extension = ''] = /^(.+?)(\.[^./\s]{1,16})?$/su.exec(path) ?? [];
  return `${stem} (${number})${extension}`;
}
