// A change of marks as it is kept on the device until the server has it, and as it is taken up again.
import type { Step } from './history';
import type { NewMark } from './marks';
import type { LayoutChoice } from './scoreCalls';

/** A mark as it is drawn here. Its id is known once the server has it; if it is taken back and drawn again, it gets another. */
export type Drawn = { key: string; mark: NewMark; layerId: number | undefined; id: number | undefined };
/** `key` begins the idempotency keys of its requests. */
export type KeptChange = Step<Drawn> & { key: string; layout: LayoutChoice | undefined };

/** Changes refer to the same mark by its key: what one has drawn, a later one may take away. */
export function takenUp(changes: readonly KeptChange[]): KeptChange[] {
  const known = new Map<string, Drawn>();
  const same = (drawn: Drawn): Drawn => {
    const found = known.get(drawn.key) ?? { ...drawn };
    known.set(drawn.key, found);
    found.id ??= drawn.id;
    found.layerId ??= drawn.layerId;
    return found;
  };
  return changes.map((change) => ({
    ...change,
    added: change.added.map(same),
    removed: change.removed.map(same),
  }));
}

/** What of them is to be seen before the server has them: on pages as they are, which other layouts do not have. */
export function draftsOf(changes: readonly KeptChange[]): Drawn[] {
  const gone = new Set(changes.flatMap(({ removed }) => removed));
  return changes.flatMap(({ added, layout }) => (layout ? [] : added.filter((drawn) => !gone.has(drawn))));
}
