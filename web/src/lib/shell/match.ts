// Search in names: every typed word must occur, ignoring accents and case.

export function matches(name: string, wanted: string): boolean {
  const plain = folded(name);
  return folded(wanted)
    .split(/\s+/)
    .every((word) => plain.includes(word));
}

function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase().trim();
}
