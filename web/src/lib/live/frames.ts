// How a frame of a live connection becomes news that we know, whichever part of the server speaks.

/** The first frame of every connection. */
export type Hello = { type: 'hello' };
/** From the server, and after every lost connection: read again whatever news keep right. */
export type Resync = { type: 'resync' };

/** Reads frames of these kinds; nothing, if one speaks of what a newer server knows and we do not. */
export function readerOf<News extends { type: string }>(
  kinds: Record<News['type'], true>,
): (frame: unknown) => News | undefined {
  return (frame) => {
    if (typeof frame !== 'string') return undefined;
    let said: unknown;
    try {
      said = JSON.parse(frame);
    } catch {
      return undefined;
    }
    const type = (said as { type?: unknown } | null)?.type;
    return typeof type === 'string' && Object.hasOwn(kinds, type) ? (said as News) : undefined;
  };
}
