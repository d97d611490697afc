// Pictures that are fetched ahead of being looked at. That counts as no view; showing one of them does.

// Addresses never change what they show, and people look at a few hundred.
const fetched = new Set<string>();

/** Into the browser's cache, as what nobody looks at yet. The browser asks the server again when it is shown. */
export function fetchAhead(address: string | undefined): void {
  if (address === undefined || fetched.has(address)) return;
  fetched.add(address);
  const headers = { purpose: 'prefetch' };
  // Whoever shows it meets what is wrong with it.
  void fetch(address, { headers, priority: 'low' })
    .then((answer) => answer.blob())
    .catch(() => undefined);
}
