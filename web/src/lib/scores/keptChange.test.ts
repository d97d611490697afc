import { describe, expect, it } from 'vitest';
import { draftsOf, takenUp, type Drawn, type KeptChange } from './keptChange';
import { stampMark } from './marks';

function drawn(key: string, id?: number): Drawn {
  return { key, mark: stampMark(0, '#000000', { x: 0, y: 0 }, 'up-bow', 100), layerId: 1, id };
}

function change(key: string, some: Partial<KeptChange>): KeptChange {
  return { key, added: [], removed: [], layout: undefined, ...some };
}

/** As the device gives it back. */
function kept(changes: KeptChange[]): KeptChange[] {
  return structuredClone(changes);
}

describe('changes that were kept', () => {
  it('refer to the same mark', () => {
    const changes = takenUp(
      kept([change('a', { added: [drawn('d1'), drawn('d2')] }), change('b', { removed: [drawn('d1')] })]),
    );
    expect(changes[1]?.removed[0]).toBe(changes[0]?.added[0]);
    expect(draftsOf(changes).map(({ key }) => key)).toEqual(['d2']);
  });

  it('know the id that only the later one has heard of', () => {
    const first = { ...drawn('d1'), layerId: undefined };
    const [one] = takenUp(
      kept([change('a', { added: [first] }), change('b', { removed: [drawn('d1', 7)] })]),
    );
    expect(one?.added[0]).toMatchObject({ id: 7, layerId: 1 });
  });

  it('are not shown if they were drawn on pages of another layout', () => {
    const layout = { transpose: 2, instrument: 0, size: 'normal' } as const;
    expect(draftsOf([change('a', { added: [drawn('d1')], layout })])).toEqual([]);
  });
});
