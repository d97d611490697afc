import { describe, expect, it } from 'vitest';
import { firstLot, fitsBundle } from './bundleUpload';
import { after, freePlaces, isUnderWay, toBegin, type Happening, type State } from './lifecycle';

function through(...happenings: Happening[]): State {
  return happenings.reduce<State>(after, 'waiting');
}

function queue(...states: State[]): { state: State }[] {
  return states.map((state) => ({ state }));
}

describe('an upload', () => {
  it('waits, is sent and is done', () => {
    expect(through('begin', 'arrive')).toBe('done');
  });

  it('goes on after a pause', () => {
    expect(through('begin', 'pause')).toBe('paused');
    expect(through('begin', 'pause', 'resume')).toBe('waiting');
  });

  it('stays paused when the line comes back or somebody signs in', () => {
    expect(through('begin', 'pause', 'again')).toBe('paused');
    expect(through('begin', 'pause', 'signOut', 'signIn')).toBe('paused');
  });

  it('goes on by itself after signing in', () => {
    expect(through('begin', 'signOut', 'signIn')).toBe('waiting');
    expect(through('begin', 'falter', 'signOut', 'signIn')).toBe('waiting');
  });

  it('can be tried again at once while it waits to be', () => {
    expect(through('begin', 'falter', 'resume')).toBe('waiting');
  });

  it('ends well when another tab has sent it', () => {
    expect(through('begin', 'yield', 'arrive')).toBe('done');
  });

  it('that failed can be tried again', () => {
    expect(through('begin', 'fail', 'resume', 'begin', 'arrive')).toBe('done');
  });

  it('that is done stays done', () => {
    const all: Happening[] = [
      'begin',
      'again',
      'falter',
      'yield',
      'fail',
      'pause',
      'resume',
      'signOut',
      'signIn',
    ];
    for (const happening of all) expect(through('begin', 'arrive', happening)).toBe('done');
  });

  it('that ended in the meantime is not revived by what its last attempt says', () => {
    expect(through('begin', 'pause', 'arrive')).toBe('paused');
    expect(through('begin', 'pause', 'falter')).toBe('paused');
  });
});

describe('the queue', () => {
  const begin = <Item extends { state: State; lot?: object }>(items: Item[], limit: number): Item[] =>
    toBegin(items, freePlaces(items, limit), ([first]) => (first ? [first] : [])).flat();

  it('begins as many as may be under way, in order', () => {
    const items = queue('done', 'waiting', 'paused', 'waiting', 'waiting');
    expect(begin(items, 2)).toEqual([items[1], items[3]]);
  });

  it('holds back while others are being sent or tried again', () => {
    expect(begin(queue('sending', 'retrying', 'sending', 'waiting'), 3)).toEqual([]);
  });

  it('is not held up by what is paused, failed or sent elsewhere', () => {
    expect(begin(queue('paused', 'failed', 'elsewhere', 'signedOut', 'waiting'), 1)).toHaveLength(1);
  });

  it('never begins a negative number', () => {
    expect(begin(queue('sending', 'sending', 'waiting'), 1)).toEqual([]);
  });

  it('counts a bundle as one', () => {
    const lot = queue('sending', 'sending', 'sending');
    const sent = lot.map((each) => ({ ...each, lot }));
    expect(freePlaces([...sent, ...queue('sending')], 3)).toBe(1);
  });
});

describe('a bundle', () => {
  const item = (name: string, bytes: number, destination = 'shelf') => ({
    file: new File(['x'.repeat(bytes)], name),
    whereto: { destination },
  });

  it('has what goes to the same place, within its limits', () => {
    const [one, other, two] = [item('a', 10), item('b', 10, 'photos'), item('c', 10)];
    expect(firstLot([one, other, two])).toEqual([one, two]);
    expect(firstLot(Array.from({ length: 300 }, (_, at) => item(`${at}`, 1)))).toHaveLength(256);
    expect(firstLot(Array.from({ length: 12 }, (_, at) => item(`${at}`, 200_000)))).toHaveLength(10);
  });

  it('has neither large files nor those for places that take none', () => {
    expect([item('a', 10), item('b', 300_000), item('c', 10, 'room')].map(fitsBundle)).toEqual([
      true,
      false,
      false,
    ]);
  });
});

it('warns before the page is closed only while something moves', () => {
  expect(['waiting', 'sending', 'retrying'].every((state) => isUnderWay(state as State))).toBe(true);
  expect(
    ['paused', 'failed', 'done', 'signedOut', 'elsewhere'].some((state) => isUnderWay(state as State)),
  ).toBe(false);
});
