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

/** Which uploads to begin now, in order, so that at most `limit` are active. */
export function toBegin<Item extends { state: State }>(items: readonly Item[], limit: number): Item[] {
  const free = limit - items.filter(({ state }) => PLACED.includes(state)).length;
  return items.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, free));
}
