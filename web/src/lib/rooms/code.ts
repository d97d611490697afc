// The five letters of a room's code: typed, pasted, or inside a link.

export const LENGTH = 5;

/** The letters in what was typed or pasted, in capitals; of a link, those of the room it leads to. */
export function lettersIn(text: string): string {
  const linked = /\/join\/([A-Za-z]{5})(?![A-Za-z])/.exec(text)?.[1];
  // Full-width letters are what a Japanese or Chinese keyboard may give.
  const plain = (linked ?? text).normalize('NFKC').toUpperCase();
  return plain.replace(/[^A-Z]/g, '').slice(0, LENGTH);
}

/** `boxes` with `letters` written into them from one box on, and the box where the next letter goes. */
export function written(
  boxes: readonly string[],
  from: number,
  letters: string,
): { boxes: string[]; next: number } {
  // A whole code is a whole code, wherever it was pasted.
  const start = letters.length === LENGTH ? 0 : from;
  const fitting = letters.slice(0, LENGTH - start);
  const next = [...boxes];
  next.splice(start, fitting.length, ...fitting);
  return { boxes: next, next: Math.min(start + fitting.length, LENGTH - 1) };
}
