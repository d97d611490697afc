// Detects what a WebSocket does not report: that the network is gone or back, and that the device slept.

const LOOK_EVERY_MS = 10_000;
// Hidden pages are woken once a minute at least; a longer gap means that the device slept, and the line with it.
const SLEPT_MS = 90_000;

type Line = { suspect(): void; hurry(): void };

/** Returns a function that ends it. */
export function watchOver(line: Line): () => void {
  let lastLook = Date.now();
  const look = (): void => {
    const slept = Date.now() - lastLook > SLEPT_MS;
    lastLook = Date.now();
    if (!slept) return;
    line.suspect();
    line.hurry();
  };
  const offline = (): void => line.suspect();
  const online = (): void => line.hurry();
  const shown = (): void => {
    look();
    if (document.visibilityState === 'visible') line.hurry();
  };
  const clock = setInterval(look, LOOK_EVERY_MS);
  window.addEventListener('offline', offline);
  window.addEventListener('online', online);
  document.addEventListener('visibilitychange', shown);
  return () => {
    clearInterval(clock);
    window.removeEventListener('offline', offline);
    window.removeEventListener('online', online);
    document.removeEventListener('visibilitychange', shown);
  };
}
