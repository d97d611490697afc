import { describe, expect, it } from 'vitest';
import { settled, shown, turnByTap, turned, turnOf, type Layout, type Position } from './pageTurn';

const START: Position = { at: 0, turned: false };

function walk(layout: Layout, count: number, steps: number): number[][] {
  let position = START;
  const seen = [shown(position, count, layout)];
  for (let step = 0; step < steps; step++) {
    position = turned(position, 'forward', count, layout);
    seen.push(shown(position, count, layout));
  }
  return seen;
}

describe('a pedal', () => {
  it.each(['ArrowRight', 'ArrowDown', 'PageDown', ' ', 'Enter'])('turns forward with %s', (key) =>
    expect(turnOf(key)).toBe('forward'),
  );

  it.each(['ArrowLeft', 'ArrowUp', 'PageUp', 'Backspace'])('turns back with %s', (key) =>
    expect(turnOf(key)).toBe('back'),
  );

  it('goes to the ends, back with Shift and Space, and leaves other keys alone', () => {
    expect([turnOf('Home'), turnOf('End'), turnOf(' ', true)]).toEqual(['first', 'last', 'back']);
    expect([turnOf('m'), turnOf('Tab'), turnOf('Escape')]).toEqual([undefined, undefined, undefined]);
  });
});

describe('a tap', () => {
  it('turns with the halves of the screen, and the middle shows the controls', () => {
    expect(turnByTap(0.1, 0.5)).toBe('back');
    expect(turnByTap(0.9, 0.5)).toBe('forward');
    expect(turnByTap(0.5, 0.5)).toBe('controls');
    expect(turnByTap(0.51, 0.95)).toBe('forward');
    expect(turnByTap(0.49, 0.05)).toBe('back');
  });
});

describe('turning', () => {
  it('shows one page after the other and stops at the last', () => {
    expect(walk('single', 3, 3)).toEqual([[0], [1], [2], [2]]);
  });

  it('shows two pages at once', () => {
    expect(walk('double', 5, 3)).toEqual([[0, 1], [2, 3], [4], [4]]);
  });

  it('shows the upper half of the next page while the lower half of this one can still be read', () => {
    expect(walk('half', 3, 5)).toEqual([[0], [1, 0], [1], [2, 1], [2], [2]]);
  });

  it('takes every half turn back the way it came', () => {
    let position = START;
    const there = [position];
    for (let step = 0; step < 4; step++) there.push((position = turned(position, 'forward', 3, 'half')));
    const back = [position];
    for (let step = 0; step < 4; step++) back.push((position = turned(position, 'back', 3, 'half')));
    expect(back).toEqual(there.reverse());
    expect(turned(START, 'back', 3, 'half')).toEqual(START);
  });

  it('goes to both ends', () => {
    expect(turned({ at: 1, turned: true }, 'last', 6, 'double')).toEqual({ at: 4, turned: false });
    expect(turned({ at: 1, turned: true }, 'last', 6, 'half')).toEqual({ at: 5, turned: false });
    expect(turned({ at: 5, turned: false }, 'first', 6, 'single')).toEqual(START);
  });

  it('has nothing to show of a score without pages', () => {
    expect(shown(turned(START, 'forward', 0, 'single'), 0, 'single')).toEqual([]);
    expect(turned(START, 'last', 0, 'double')).toEqual(START);
  });

  it('stays on a page that exists when pages are removed or the layout changes', () => {
    expect(settled({ at: 9, turned: true }, 4, 'half')).toEqual({ at: 3, turned: false });
    expect(settled({ at: 3, turned: true }, 6, 'double')).toEqual({ at: 2, turned: false });
    expect(settled({ at: 1, turned: true }, 6, 'half')).toEqual({ at: 1, turned: true });
  });
});
