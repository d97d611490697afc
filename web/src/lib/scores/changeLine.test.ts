import { describe, expect, it } from 'vitest';
import { ChangeLine } from './changeLine';

type Thing = { etag: number; order: string };
type Order = (seen: Thing, wanted: string) => Promise<void>;

/** Takes a change of what it has now, and of nothing older. */
class Server {
  thing: Thing = { etag: 0, order: 'abc' };

  async put({ etag }: Thing, order: string): Promise<Thing> {
    await Promise.resolve();
    if (etag !== this.thing.etag) throw new Error('412');
    this.thing = { etag: etag + 1, order };
    return this.thing;
  }
}

function desk(): { server: Server; shown: Thing[]; line: ChangeLine<Thing>; order: Order } {
  const [server, line, shown] = [new Server(), new ChangeLine<Thing>(), [] as Thing[]];
  const order: Order = (seen, wanted) =>
    line.make(
      seen,
      (current) => server.put(current, wanted),
      (changed) => shown.push(changed),
    );
  return { server, shown, line, order };
}

describe('changes in a line', () => {
  it('are all made when the second comes before the first is answered', async () => {
    const { server, shown, order } = desk();
    const seen = server.thing;
    await Promise.all([order(seen, 'bac'), order(seen, 'bca')]);
    expect(server.thing).toEqual({ etag: 2, order: 'bca' });
    // The first order would only flash up.
    expect(shown).toEqual([server.thing]);
  });

  it('end with the one that is refused, and go on from what is seen then', async () => {
    const { server, shown, order } = desk();
    const old = { etag: -1, order: 'abc' };
    const outcomes = await Promise.allSettled([order(old, 'bac'), order(old, 'bca')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([server.thing.order, shown]).toEqual(['abc', []]);
    await order(server.thing, 'cab');
    expect(shown).toEqual([{ etag: 1, order: 'cab' }]);
  });

  it('are shown before whoever waits for them goes on', async () => {
    const { server, shown, line, order } = desk();
    const made = ['bac', 'bca'].map((wanted) => order(server.thing, wanted));
    await line.idle();
    expect(shown).toEqual([{ etag: 2, order: 'bca' }]);
    await Promise.all(made);
  });
});
