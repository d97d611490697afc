// Which half of the history is asked for in the address line.
import type { Direction } from '$lib/api/transfers';

export function directionIn(url: URL): Direction {
  const asked = url.searchParams.get('show');
  return asked === 'sent' || asked === 'received' ? asked : 'all';
}
