// Search in names: every typed word must occur, ignoring accents, case, width and the kind of kana, as the server does.

export function matches(name: string, wanted: string): boolean {
  const plain = folded(name);
  return folded(wanted)
    .split(/\s+/)
    .every((word) => plain.includes(word));
}

function folded(text: string): string {
  const bare = text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase().trim();
  // Katakana stands as far behind hiragana everywhere.
  return bare.replace(/[\u30a1-\u30f6\u30fd\u30fe]/g, (kana) =>
    String.fromCharCode(kana.charCodeAt(0) - 0x60),
  );
}
