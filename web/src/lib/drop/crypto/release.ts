// Gives memory back at once: left to the browser's own time, what is opened and sealed piles up faster than files come.
import type { Bytes } from './bytes';

let nowhere: MessagePort | undefined;

/**
 * Frees these bytes by posting them to a port that nobody reads.
 *
 * `ArrayBuffer.prototype.transfer` only seems to do the same. Chromium keeps holding what WebCrypto has answered, and
 * since it is not counted any more, nothing makes it look for it: after 4 GiB it held 4 GiB.
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
