// The state machine of an upload; a transition that is not listed changes nothing.

export type State =
  'waiting' | 'sending' | 'retrying' | 'elsewhere' | 'paused' | 'signedOut' | 'failed' | 'done';

export type Happening =
  'begin' | 'again' | 'arrive' | 'falter' | 'yield' | 'fail' | 'pause' | 'resume' | 'signOut' | 'signIn';

const MOVES: Record<State, Partial<Record<Happening, State>>> = {
  waiting: { begin: 'sending', pause: 'paused', signOut: 'signedOut' },
  sending: {
    again: 'waiting',
    arrive: 'done',
    falter: 'retrying',
    yield: 'elsewhere',
    fail: 'failed',
    pause: 'paused',
    signOut: 'signedOut',
  },
  retrying: { again: 'waiting', resume: 'waiting', pause: 'paused', signOut: 'signedOut' },
  elsewhere: { again: 'waiting', arrive: 'done', pause: 'paused', signOut: 'signedOut' },
  // Whoever paused something wants it to stay so after signing in.
  paused: { resume: 'waiting' },
  signedOut: { resume: 'waiting', signIn: 'waiting', pause: 'paused' },
  failed: { resume: 'waiting' },
  done: {},
};

export function after(state: State, happening: Happening): State {
  return MOVES[state][happening] ?? state;
}

/** Those that occupy a slot: while the server is away, the rest of the queue waits behind them. */
const PLACED: readonly State[] = ['sending', 'retrying'];
const OVER: readonly State[] = ['done', 'failed'];

export function isOver(state: State): boolean {
  return OVER.includes(state);
}

/** Whether closing the page would interrupt it. */
export function isUnderWay(state: State): boolean {
  return state === 'waiting' || PLACED.includes(state);
}

/** How many more can begin so that at most `limit` are active; those of one lot go as one. */
export function freePlaces(
  items: readonly { state: State; lot?: object | undefined }[],
  limit: number,
): number {
  const placed = items.filter(({ state }) => PLACED.includes(state));
  const lots = new Set(placed.map(({ lot }) => lot).filter((lot) => lot !== undefined));
  return Math.max(0, limit - placed.filter(({ lot }) => !lot).length - lots.size);
}

/** What begins now, in order, at most `places` lots; `together` has those that go with the first. */
export function toBegin<Item extends { state: State }>(
  items: readonly Item[],
  places: number,
  together: (waiting: readonly Item[]) => Item[],
): Item[][] {
  const lots: Item[][] = [];
  let waiting = items.filter(({ state }) => state === 'waiting');
  while (waiting.length && lots.length < places) {
    const lot = together(waiting);
    const begun = new Set(lot);
    lots.push(lot);
    waiting = waiting.filter((item) => !begun.has(item));
  }
  return lots;
}
