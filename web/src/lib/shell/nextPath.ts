// Where to go after signing in: back to the page that was asked for, but never to another site.

export function nextPath(url: URL): string {
  try {
    const next = new URL(url.searchParams.get('next') ?? '/', url.origin);
    if (next.origin === url.origin) return next.pathname + next.search + next.hash;
  } catch {
    // No address at all.
  }
  return '/';
}
