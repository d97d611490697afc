// Starts the worker of one transfer.
import type { FromWorker } from './messages';

export function startWorker(told: (news: FromWorker) => void): Worker {
  const worker = new Worker(new URL('./transfer.worker.ts', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => told(data);
  // A worker that cannot even be loaded says nothing else.
  worker.onerror = () => {
    told({
      kind: 'status',
      status: { stage: 'failed', bytes: 0, length: null, failure: { kind: 'unsaved' } },
    });
    told({ kind: 'over', known: null });
  };
  return worker;
}
