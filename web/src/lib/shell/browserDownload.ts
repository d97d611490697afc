// Starts downloads of the browser's own, which shows their progress.

/** As many ids as fit into an address of 8 KiB, the longest that every proxy takes. */
export const IDS_IN_ADDRESS = 200;
// Browsers forget some of several downloads that begin at once.
const PAUSE_MS = 700;

/** Without `name`, the server's name is used. */
export function saveFrom(address: string, name = ''): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}

export async function saveEach(addresses: readonly string[]): Promise<void> {
  for (const [at, address] of addresses.entries()) {
    if (at) await new Promise((wake) => setTimeout(wake, PAUSE_MS));
    saveFrom(address);
  }
}

/** Of so many things, what goes into each of several addresses. */
export function inParts<Item>(items: readonly Item[], most = IDS_IN_ADDRESS): Item[][] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, at) =>
    items.slice(at * most, (at + 1) * most),
  );
}
