// Reads, seals, opens and writes beside the page, so that it does not stutter; one worker for one transfer.
import type { FromWorker, ToWorker } from './messages';
import { ReceiveJob } from './receiveJob';
import { SendJob } from './sendJob';

let transfer: ReceiveJob | SendJob | undefined;

function tell(news: FromWorker): void {
  postMessage(news);
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'heard') transfer?.hear(data.event);
  else if (data.kind === 'stop') transfer?.stop();
  else {
    transfer = data.kind === 'send' ? new SendJob(data, tell) : new ReceiveJob(data, tell);
    // Reported, it reaches the page as an error of the worker; thrown, it would reach nobody.
    transfer.run().catch(reportError);
  }
});
