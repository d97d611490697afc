// The page to return to after signing in, never on another site.

export function nextPath(url: URL): string {
  try {
    const next = new URL(url.searchParams.get('next') ?? '/', url.origin);
    if (next.origin === url.origin) return next.pathname + next.search + next.hash;
  } catch {
    // No address at all.
  }
  return '/';
}
