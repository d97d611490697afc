// Keeps the screen on while somebody needs it, as far as the browser lets a page.

/** Returns a function that ends it. */
export function holdAwake(): () => void {
  let lock: WakeLockSentinel | undefined;
  let isOver = false;

  async function hold(): Promise<void> {
    if (isOver || document.visibilityState !== 'visible' || !('wakeLock' in navigator)) return;
    try {
      const held = await navigator.wakeLock.request('screen');
      if (isOver) await held.release();
      else lock = held;
    } catch {
      // A battery that is low, or a browser that does not want to: then the device may sleep.
    }
  }

  // Browsers release the lock whenever the page is hidden.
  const shown = (): void => void hold();
  document.addEventListener('visibilitychange', shown);
  void hold();
  return () => {
    isOver = true;
    void lock?.release();
    document.removeEventListener('visibilitychange', shown);
  };
}
