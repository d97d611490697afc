// The direction of the history that the address asks for.
import type { Direction } from '$lib/api/transfers';

export function directionIn(url: URL): Direction {
  const asked = url.searchParams.get('show');
  return asked === 'sent' || asked === 'received' ? asked : 'all';
}
