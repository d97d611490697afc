// The tiles of a map around a place, in the Mercator projection that all makers of tiles use.

export type MapTile = { x: number; y: number; left: number; top: number };

export const TILE_PX = 256;
// Beyond it the projection has no tiles.
const MOST_LATITUDE = 85.0511;

/** The tiles that a map of this size needs with the place in its middle, each with its distance from there. */
export function tilesAround(
  { latitude, longitude }: { latitude: number; longitude: number },
  zoom: number,
  size: { width: number; height: number },
): MapTile[] {
  const count = 2 ** zoom;
  const radians = (Math.max(-MOST_LATITUDE, Math.min(MOST_LATITUDE, latitude)) * Math.PI) / 180;
  const across = ((longitude + 180) / 360) * count * TILE_PX;
  const down = ((1 - Math.asinh(Math.tan(radians)) / Math.PI) / 2) * count * TILE_PX;
  const tiles: MapTile[] = [];
  for (let y = first(down - size.height / 2); y * TILE_PX < down + size.height / 2; y++) {
    if (y < 0 || y >= count) continue;
    for (let x = first(across - size.width / 2); x * TILE_PX < across + size.width / 2; x++) {
      // The world goes on where it ends.
      const left = Math.round(x * TILE_PX - across);
      tiles.push({ x: ((x % count) + count) % count, y, left, top: Math.round(y * TILE_PX - down) });
    }
  }
  return tiles;
}

export function tileAddress(template: string, zoom: number, { x, y }: MapTile): string {
  return template.replaceAll('{z}', String(zoom)).replaceAll('{x}', String(x)).replaceAll('{y}', String(y));
}

/** A text, and the address at its end, if there is one. */
export function attributionOf(written: string): { text: string; href: string | undefined } {
  const [, text, href] = /^(.*?)\s*(https?:\/\/\S+)?$/s.exec(written.trim()) ?? [];
  return { text: text || (href ?? ''), href };
}

function first(px: number): number {
  return Math.floor(px / TILE_PX);
}
