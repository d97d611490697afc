// At the first visit a page is loaded before the service worker is in charge, which therefore keeps none of it.

/** Ask once more for what was loaded past the worker, out of the browser's cache, so that the worker keeps it. */
export function keepLoadedParts(): void {
  const workers = navigator.serviceWorker;
  if (!workers || workers.controller) return;
  workers.addEventListener('controllerchange', watchLoading, { once: true });
}

function watchLoading(): void {
  const observer = new PerformanceObserver((loaded) => {
    for (const entry of loaded.getEntries() as PerformanceResourceTiming[])
      if (!entry.workerStart && new URL(entry.name).pathname.startsWith('/_app/'))
        fetch(entry.name).catch(() => undefined);
  });
  observer.observe({ type: 'resource', buffered: true });
}
