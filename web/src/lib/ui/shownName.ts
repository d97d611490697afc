// Names as they are shown: characters that nobody sees, or that turn the reading direction around, get a visible sign.

// Control characters, direction marks, embeddings, overrides and isolates: `gpj.exe` could look like `exe.jpg`.
const DECEIVING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** For people to read. The name itself stays as it is, and is what a download or a change uses. */
export function shownName(name: string): string {
  return name.replace(DECEIVING, '\ufffd');
}
