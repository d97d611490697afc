// Releases memory at once. Garbage collection alone is slower than the memory that encryption at full speed allocates.
import type { Bytes } from './bytes';

let nowhere: MessagePort | undefined;

/**
 * Frees these bytes by posting them to a port that nobody reads.
 *
 * `ArrayBuffer.prototype.transfer` does not help. Chromium keeps the results of WebCrypto and no longer counts them, so
 * nothing triggers garbage collection: after 4 GiB it held 4 GiB.
 */
export function release({ buffer }: Bytes): void {
  nowhere ??= portToNowhere();
  nowhere.postMessage(null, [buffer]);
}

function portToNowhere(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
