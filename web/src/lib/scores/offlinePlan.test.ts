import { expect, it } from 'vitest';
import { setListVersion } from './offlinePlan';
import type { Score } from './scoreCalls';

it('knows a set list whose scores have changed as another one', () => {
  const score = (etag: string, seq: number): Score =>
    ({ score_id: 's', etag, layers: [{ layer_id: 'l', seq }] }) as unknown as Score;
  const versions = [score('a', 1), score('b', 1), score('a', 2)].map((each) =>
    setListVersion({ etag: 'e' }, [each]),
  );
  expect(new Set([...versions, setListVersion({ etag: 'f' }, [score('a', 1)])]).size).toBe(4);
});
