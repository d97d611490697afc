// Shares a card that is a link: by a right click, which on the name of it is a link's, or by a finger that stays.
import type { Attachment } from 'svelte/attachments';
import { LongPress } from './longPress';

/** Asked when it is pressed, so that a card whose contents change under the finger stays pressed. */
export function sharePress(share: () => (() => unknown) | undefined): Attachment<HTMLElement> {
  return (card) => follow(card, share);
}

function follow(card: HTMLElement, share: () => (() => unknown) | undefined): () => void {
  const press = new LongPress(() => {
    swallowClick();
    share()?.();
  });
  const listening = new AbortController();
  let byTouch = false;
  const on = <Kind extends keyof HTMLElementEventMap>(
    kind: Kind,
    hear: (event: HTMLElementEventMap[Kind]) => void,
  ): void => card.addEventListener(kind, hear, { signal: listening.signal, capture: true });

  on('pointerdown', (event) => {
    byTouch = event.pointerType === 'touch';
    if (byTouch && share()) press.begin('', event);
  });
  on('pointermove', press.move);
  on('pointerup', press.end);
  on('pointercancel', press.end);
  on('contextmenu', (event) => {
    const onName = event.target instanceof Element && event.target.closest('h2, button');
    if (!share() || (!byTouch && onName)) return;
    event.preventDefault();
    if (!byTouch) share()?.();
  });
  return () => {
    press.end();
    listening.abort();
  };
}

/** The finger still touches. Its click would open the card, or close what has opened above it. */
function swallowClick(): void {
  const done = new AbortController();
  const listening = { signal: done.signal, capture: true };
  const swallow = (event: Event): void => {
    event.preventDefault();
    event.stopPropagation();
    done.abort();
  };
  addEventListener('click', swallow, listening);
  // What is pressed next is another matter.
  for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, () => done.abort(), listening);
}
