import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toasts } from './toasts.svelte';

describe('a toast', () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('document', page);
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('goes after a while, but not while nobody looks at the page', () => {
    page.visibilityState = 'hidden';
    toasts.good('Put into Physics.');
    vi.advanceTimersByTime(60_000);
    expect(toasts.shown).toHaveLength(1);
    page.visibilityState = 'visible';
    page.dispatchEvent(new Event('visibilitychange'));
    vi.advanceTimersByTime(4_000);
    expect(toasts.shown).toHaveLength(1);
    vi.advanceTimersByTime(2_000);
    expect(toasts.shown).toHaveLength(0);
  });
});
