// Holds a wake lock, and warns before the page is closed, while something is being transferred.
import { holdAwake } from '$lib/shell/wakeLock';

/** Returns a function that ends it. */
export function stayAwake(): () => void {
  const release = holdAwake();

  function warn(event: BeforeUnloadEvent): void {
    event.preventDefault();
  }

  window.addEventListener('beforeunload', warn);
  return () => {
    release();
    window.removeEventListener('beforeunload', warn);
  };
}
