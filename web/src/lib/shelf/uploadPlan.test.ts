import { expect, test } from 'vitest';
import type { Entry } from '$lib/files/entries';
import type { Picked } from '$lib/files/pickedFiles';
import { chosen, type UploadPlan } from './uploadPlan';

function picked(name: string): Picked {
  return { file: new File(['x'], name), path: '', details: { zone: 'UTC' } };
}

test('what is sent is what somebody chose once for all', () => {
  const entry = { id: 'f1', sha256: 'ab', kind: 'file' } as Entry;
  const [fresh, same, clash] = [picked('new'), picked('same'), picked('other')];
  const plan: UploadPlan = { fresh: [fresh], same: [same], changed: [{ picked: clash, entry }] };
  expect(chosen(plan, 'skip')).toEqual([fresh]);
  expect(chosen(plan, 'both')).toEqual([fresh, clash]);
  const [, replacement] = chosen(plan, 'replace');
  expect(replacement?.details).toEqual({ zone: 'UTC', replaces: 'f1', replacedSha256: 'ab' });
});
