// The page of the score that a link leads to. Links name scores by 22 letters, addresses by the same bytes as a UUID.

/** `thing` may name a part or a snapshot as well, after a dot. */
export function scoreAddress(thing: string): string {
  const letters = thing.slice(0, 22).replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Array.from(atob(`${letters}==`), (letter) =>
    letter.charCodeAt(0).toString(16).padStart(2, '0'),
  );
  // The first three groups have their low byte first.
  const groups = [bytes.slice(0, 4).reverse(), bytes.slice(4, 6).reverse(), bytes.slice(6, 8).reverse()];
  const rest = [bytes.slice(8, 10), bytes.slice(10)];
  return `/scores/${[...groups, ...rest].map((group) => group.join('')).join('-')}`;
}
