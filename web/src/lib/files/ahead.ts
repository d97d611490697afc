// Pictures that are fetched ahead of being looked at. That counts as no view; showing one of them does.

// Addresses never change what they show, and people look at a few hundred.
const waiting = new Set<string>();

/** Into the browser's cache, as what nobody looks at yet. */
export function fetchAhead(address: string | undefined): void {
  if (address === undefined || waiting.has(address)) return;
  waiting.add(address);
  const headers = { purpose: 'prefetch' };
  // Whoever shows it asks again.
  void fetch(address, { headers, priority: 'low' })
    .then((answer) => answer.blob())
    .catch(() => undefined);
}

/** It is shown. From the cache, the server would not hear of it. */
export function showAhead(address: string | undefined): void {
  if (address === undefined || !waiting.delete(address)) return;
  void fetch(address, { cache: 'no-cache' })
    .then((answer) => answer.blob())
    .catch(() => undefined);
}
