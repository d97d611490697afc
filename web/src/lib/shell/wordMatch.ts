// Whether a text has the words that somebody looks for.

/** Every word; letters with and without marks are the same, so that "dvorak" finds Dvořák. */
export function hasWords(text: string, words: string): boolean {
  const plainText = plain(text);
  return plain(words)
    .split(/\s+/)
    .every((word) => plainText.includes(word));
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Diacritic}/gu, '')
    .toLowerCase();
}
