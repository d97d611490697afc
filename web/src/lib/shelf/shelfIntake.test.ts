import { afterEach, expect, test, vi } from 'vitest';
import type { Picked } from '$lib/files/pickedFiles';
import { toasts } from '$lib/ui/toasts.svelte';
import { ShelfIntake } from './shelfIntake.svelte';

afterEach(() => void vi.restoreAllMocks());

test('files that fail in an unforeseen way are told of, and stop none that come after them', async () => {
  const told = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const broken: Picked = {
    file: new File(['x'], 'broken.txt'),
    get path(): string {
      throw new TypeError('gone');
    },
  };
  const intake = new ShelfIntake();
  intake.take([broken], 'root');
  intake.take([broken], 'root');
  await vi.waitFor(() => expect(toasts.shown.map(({ kind }) => kind)).toEqual(['bad', 'bad']));
  expect(told).toHaveBeenCalledTimes(2);
});
