// Turning pages on stage: by tapping, by keys, which is what pedals send, half a page at a time, or two at once.

export type Layout = 'single' | 'half' | 'double';
/** Where the reader is. `turned` says that the upper half already shows the next page. */
export type Position = { at: number; turned: boolean };
export type Turn = 'forward' | 'back' | 'first' | 'last';

const KEYS: Readonly<Record<string, Turn>> = {
  ArrowRight: 'forward',
  ArrowDown: 'forward',
  PageDown: 'forward',
  ' ': 'forward',
  Enter: 'forward',
  ArrowLeft: 'back',
  ArrowUp: 'back',
  PageUp: 'back',
  Backspace: 'back',
  Home: 'first',
  End: 'last',
};

// The middle of the screen belongs to the controls.
const MIDDLE = 0.2;

/** What a key of a keyboard or a pedal turns; undefined for keys that do something else. */
export function turnOf(key: string, shifted = false): Turn | undefined {
  return key === ' ' && shifted ? 'back' : KEYS[key];
}

/** What a tap turns: left half back, right half forward, the middle of the screen neither. */
export function turnByTap(x: number, y: number): Turn | 'controls' {
  if (Math.abs(x - 0.5) < MIDDLE / 2 && y > 0.25 && y < 0.75) return 'controls';
  return x < 0.5 ? 'back' : 'forward';
}

/** Where a turn leads, among `count` pages. */
export function turned(position: Position, turn: Turn, count: number, layout: Layout): Position {
  const end = Math.max(0, count - 1);
  const last = layout === 'double' ? end - (end % 2) : end;
  if (turn === 'first') return { at: 0, turned: false };
  if (turn === 'last') return { at: last, turned: false };
  if (layout === 'half') return halfTurned(position, turn, end);
  const step = (layout === 'double' ? 2 : 1) * (turn === 'forward' ? 1 : -1);
  return { at: Math.min(last, Math.max(0, position.at + step)), turned: false };
}

/** First the upper half changes, while the lower one can still be read; then the whole page is the next one. */
function halfTurned({ at, turned: isTurned }: Position, turn: Turn, end: number): Position {
  if (turn === 'forward') {
    if (isTurned) return { at: Math.min(end, at + 1), turned: false };
    return { at, turned: at < end };
  }
  if (isTurned) return { at, turned: false };
  return at > 0 ? { at: at - 1, turned: true } : { at: 0, turned: false };
}

/** The pages to show, by their place in the order; two at once begin with an even one. */
export function shown({ at, turned: isTurned }: Position, count: number, layout: Layout): number[] {
  if (!count) return [];
  if (layout === 'double') {
    const left = at - (at % 2);
    return left + 1 < count ? [left, left + 1] : [left];
  }
  return layout === 'half' && isTurned && at + 1 < count ? [at + 1, at] : [at];
}

/** A position that still exists after pages were added or removed, or after the layout was changed. */
export function settled({ at, turned: isTurned }: Position, count: number, layout: Layout): Position {
  const inside = Math.min(Math.max(0, at), Math.max(0, count - 1));
  return {
    at: layout === 'double' ? inside - (inside % 2) : inside,
    turned: isTurned && layout === 'half' && inside + 1 < count,
  };
}
