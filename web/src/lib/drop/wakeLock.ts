// Holds a wake lock, and warns before the page is closed, while something is being transferred.

/** Returns a function that ends it. */
export function stayAwake(): () => void {
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

  function warn(event: BeforeUnloadEvent): void {
    event.preventDefault();
  }

  // Browsers release the lock whenever the page is hidden.
  const shown = (): void => void hold();
  document.addEventListener('visibilitychange', shown);
  window.addEventListener('beforeunload', warn);
  void hold();
  return () => {
    isOver = true;
    void lock?.release();
    document.removeEventListener('visibilitychange', shown);
    window.removeEventListener('beforeunload', warn);
  };
}
