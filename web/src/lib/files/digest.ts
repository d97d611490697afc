// Digests in a worker, so that a large file does not block the page.
import { problemFrom, unreachable } from '$lib/api/problems';
import type { News, Task } from './digest.worker';

export type Digested = Extract<News, { kind: 'done' }>;

/** One worker for all files of a piece of work. */
export async function beside<Result>(work: (worker: Worker) => Promise<Result>): Promise<Result> {
  const worker = new Worker(new URL('./digest.worker.ts', import.meta.url), { type: 'module' });
  try {
    return await work(worker);
  } finally {
    worker.terminate();
  }
}

export function digest(
  worker: Worker,
  task: Task,
  told: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Digested> {
  return new Promise<Digested>((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    worker.onerror = () => reject(unreachable());
    worker.onmessage = ({ data }: MessageEvent<News>) => {
      if (data.kind === 'progress') told(data.bytes);
      else if (data.kind === 'done') resolve(data);
      else if (data.kind === 'broken') reject(unreachable());
      else reject(problemFrom(data.status, data.contentType, data.body));
    };
    worker.postMessage(task);
  });
}
