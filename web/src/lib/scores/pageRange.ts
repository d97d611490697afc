// Pages as people write them, such as 1-3, 5: in any order, and as often as they are played.

/** The places from 1 on; undefined if it is no such text, or names a page that is not there. */
export function readRange(text: string, count: number): number[] | undefined {
  const places: number[] = [];
  for (const part of text.split(/[,;、，]/)) {
    if (!part.trim()) continue;
    const [, first, last = first] = /^\s*(\d{1,3})(?:\s*[-–]\s*(\d{1,3}))?\s*$/.exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (!(from >= 1 && to >= 1 && from <= count && to <= count)) return undefined;
    for (let at = from; from <= to ? at <= to : at >= to; at += from <= to ? 1 : -1) places.push(at);
  }
  return places;
}

/** As short as it can be. */
export function writeRange(places: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const place of places) {
    const run = runs.at(-1);
    if (run && run[1] + 1 === place) run[1] = place;
    else runs.push([place, place]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
