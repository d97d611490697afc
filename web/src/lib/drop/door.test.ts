import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DoorKeeper, type Admission, type DoorCode, type Refusal } from './door';

const LONG_MS = 31_000;
const RIGHT: Admission = { tag: 'right', sealed: 'box' };

class Wrong extends Error {}

/** A door whose codes are 1, 2, 3 …, and which is opened by the tag “right”. */
function door(kept?: DoorCode) {
  let drawn = 0;
  const shown: DoorCode[] = [];
  const shares: string[] = [];
  const verdicts: (Admission | Refusal)[] = [];
  const keeper = new DoorKeeper(
    {
      draw: () => String(++drawn),
      meet: async (code, _, share) => {
        if (share === 'zero') throw new Wrong();
        return {
          share: `of ${code}`,
          verdict: async (tag) => {
            if (tag !== 'right') throw new Wrong();
            return RIGHT;
          },
        };
      },
      answer: async (_, share) => void shares.push(share),
      judge: async (_, verdict) => void verdicts.push(verdict),
      isWrongGuess: (failure) => failure instanceof Wrong,
      changed: (code) => void shown.push(code),
    },
    kept,
  );
  const guess = async (knockId: string, tag: string): Promise<void> => {
    await keeper.knock(knockId, 'share');
    await keeper.tag(knockId, tag);
  };
  return { keeper, shares, verdicts, guess, now: () => shown.at(-1) as DoorCode };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the door', () => {
  it('lets in whoever knows the code, as often as they like', async () => {
    const { guess, verdicts, now } = door();
    for (const each of ['a', 'b', 'c', 'd']) await guess(each, 'right');
    expect(verdicts).toEqual([RIGHT, RIGHT, RIGHT, RIGHT]);
    expect(now()).toEqual({ code: '1', wrong: 0, died: 0 });
  });

  it('shows another code after three wrong guesses', async () => {
    const { guess, verdicts, now } = door();
    for (const each of ['a', 'b', 'c']) await guess(each, 'wrong');
    expect(verdicts).toEqual([
      { refused: 'code-wrong' },
      { refused: 'code-wrong' },
      { refused: 'code-dead' },
    ]);
    expect(now()).toEqual({ code: '2', wrong: 0, died: 1 });
  });

  it('does not forget wrong guesses because of a right one', async () => {
    const { guess, now } = door();
    await guess('a', 'wrong');
    await guess('b', 'wrong');
    await guess('c', 'right');
    expect(now().wrong).toBe(2);
    await guess('d', 'wrong');
    expect(now().code).toBe('2');
  });

  it('counts somebody who knocks and then says nothing', async () => {
    const { keeper, now } = door();
    for (const each of ['a', 'b', 'c']) {
      await keeper.knock(each, 'share');
      await vi.advanceTimersByTimeAsync(LONG_MS);
    }
    expect(now()).toEqual({ code: '2', wrong: 0, died: 1 });
  });

  it('takes no tag after its time', async () => {
    const { keeper, verdicts } = door();
    await keeper.knock('a', 'share');
    await vi.advanceTimersByTimeAsync(LONG_MS);
    await keeper.tag('a', 'right');
    expect(verdicts).toEqual([]);
  });

  it('counts a share that makes every secret zero', async () => {
    const { keeper, verdicts, now } = door();
    await keeper.knock('a', 'zero');
    expect(verdicts).toEqual([{ refused: 'code-wrong' }]);
    expect(now().wrong).toBe(1);
  });

  it('gives nobody a second tag for one knock', async () => {
    const { keeper, guess, verdicts } = door();
    await guess('a', 'wrong');
    await keeper.tag('a', 'right');
    expect(verdicts).toEqual([{ refused: 'code-wrong' }]);
  });

  it('has one open knock at a time, and counts those that were crowded out', async () => {
    const { keeper, verdicts, shares, now } = door();
    for (const each of ['a', 'b', 'c', 'd']) await keeper.knock(each, 'share');
    expect(shares).toEqual(['of 1', 'of 1', 'of 1']);
    expect(verdicts).toEqual([{ refused: 'code-dead' }]);
    await keeper.tag('a', 'right');
    expect(verdicts).toHaveLength(1);
    expect(now()).toEqual({ code: '2', wrong: 0, died: 1 });
  });

  it('stays shut after three dead codes, until somebody wants another', async () => {
    const { keeper, guess, verdicts, now } = door();
    for (let knock = 0; knock < 9; knock += 1) await guess(String(knock), 'wrong');
    expect(now()).toEqual({ code: undefined, wrong: 0, died: 3 });
    await guess('more', 'right');
    expect(verdicts.at(-1)).toEqual({ refused: 'code-dead' });
    keeper.renew();
    await guess('again', 'right');
    expect(verdicts.at(-1)).toEqual(RIGHT);
  });

  it('keeps its count when the page is loaded anew in the middle of a guess', async () => {
    const before = door({ code: '7', wrong: 2, died: 0 });
    expect(before.now().code).toBe('7');
    await before.keeper.knock('a', 'share');
    expect(before.now().wrong).toBe(3);
    expect(door(before.now()).now()).toEqual({ code: '1', wrong: 0, died: 1 });
  });
});
