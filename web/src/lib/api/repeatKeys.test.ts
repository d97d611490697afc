import { describe, expect, it } from 'vitest';
import { Problem } from './problems';
import { RepeatKeys } from './repeatKeys';

function answering(...answers: (Problem | string)[]): {
  keys: string[];
  send: (key: string) => Promise<string>;
} {
  const keys: string[] = [];
  return {
    keys,
    send: (key) => {
      keys.push(key);
      const answer = answers.shift() ?? '';
      return answer instanceof Problem ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
}

describe('RepeatKeys', () => {
  it('sends a request again under its key when the answer is lost', async () => {
    const { keys, send } = answering(
      new Problem('unreachable', 0, ''),
      new Problem('proxy', 502, ''),
      'done',
    );
    await expect(new RepeatKeys([0, 0]).once(['a'], send)).resolves.toBe('done');
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  it('keeps the key of a request until its answer comes, and says that its outcome is unknown', async () => {
    const lost = [new Problem('unreachable', 0, ''), new Problem('proxy', 502, '')];
    const { keys, send } = answering(...lost, 'done', 'done');
    const repeated = new RepeatKeys([]);
    await expect(repeated.once(['a'], send)).rejects.toThrow('unknownOutcome');
    await expect(repeated.once(['a'], send)).rejects.toThrow();
    await expect(repeated.once(['a'], send)).resolves.toBe('done');
    expect(new Set(keys).size).toBe(1);
    await repeated.once(['a'], send);
    expect(new Set(keys).size).toBe(2);
  });

  it('takes another key for another request, and after a refusal', async () => {
    const { keys, send } = answering(new Problem('unreachable', 0, ''), new Problem('not-found', 404, ''));
    const repeated = new RepeatKeys([]);
    await expect(repeated.once(['a'], send)).rejects.toThrow();
    await expect(repeated.once(['b'], send)).rejects.toThrow();
    await repeated.once(['b'], send);
    expect(new Set(keys).size).toBe(3);
  });
});
