// Whether a name is what somebody types: every word they typed stands somewhere in it, whatever accents and case.

export function matches(name: string, wanted: string): boolean {
  const plain = folded(name);
  return folded(wanted)
    .split(/\s+/)
    .every((word) => plain.includes(word));
}

function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase().trim();
}
