// Fingers on a score: they tap, swipe, move the page and pinch it. A pen that is near keeps the hand beside it from doing so.

export type GestureHandlers = {
  /** How many fingers move the page; the first draws if two are needed. */
  fingers(): 1 | 2;
  /** A tap of anything, 0 to 1 of the width and the height. */
  ontap?(x: number, y: number): void;
  /** A swipe across a page that cannot be moved sideways. */
  onswipe?(turn: 'forward' | 'back'): void;
  onpinch(factor: number): void;
};

type Contact = { x: number; y: number; startX: number; startY: number; at: number };

const TAP_PX = 12;
const TAP_MS = 600;
const SWIPE_PX = 50;
// A hand lies on the paper a little longer than its pen.
const PALM_MS = 700;

/** Watches an element that can be scrolled; returns a function that ends it. */
export function watchGestures(scroller: HTMLElement, handlers: GestureHandlers): () => void {
  const contacts = new Map<number, Contact>();
  let penAt = -PALM_MS;
  let spread: number | undefined;

  function down(event: PointerEvent): void {
    if (event.pointerType === 'pen') penAt = event.timeStamp;
    const { clientX: x, clientY: y, timeStamp: at } = event;
    if (event.pointerType === 'touch' && at - penAt < PALM_MS) return;
    contacts.set(event.pointerId, { x, y, startX: x, startY: y, at });
    spread = undefined;
  }

  function move(event: PointerEvent): void {
    if (event.pointerType === 'pen') penAt = event.timeStamp;
    const contact = contacts.get(event.pointerId);
    if (!contact || event.pointerType !== 'touch') return;
    const [dx, dy] = [event.clientX - contact.x, event.clientY - contact.y];
    [contact.x, contact.y] = [event.clientX, event.clientY];
    if (contacts.size >= handlers.fingers()) scroller.scrollBy(-dx / contacts.size, -dy / contacts.size);
    if (contacts.size === 2) pinch();
  }

  function pinch(): void {
    const [one, other] = [...contacts.values()];
    if (!one || !other) return;
    const now = Math.hypot(one.x - other.x, one.y - other.y);
    if (spread) handlers.onpinch(now / spread);
    spread = now;
  }

  function up(event: PointerEvent): void {
    if (event.pointerType === 'pen') penAt = event.timeStamp;
    const contact = contacts.get(event.pointerId);
    const wasAlone = contacts.size === 1;
    contacts.delete(event.pointerId);
    if (!contact || !wasAlone || event.type === 'pointercancel') return;
    const [dx, dy] = [event.clientX - contact.startX, event.clientY - contact.startY];
    const isTap = Math.hypot(dx, dy) < TAP_PX && event.timeStamp - contact.at < TAP_MS;
    if (isTap) tap(event);
    else if (event.pointerType === 'touch' && Math.abs(dx) > SWIPE_PX && Math.abs(dx) > 2 * Math.abs(dy)) {
      if (scroller.scrollWidth <= scroller.clientWidth + 1) handlers.onswipe?.(dx < 0 ? 'forward' : 'back');
    }
  }

  function tap(event: PointerEvent): void {
    // What can be pressed does what it says.
    if (event.button !== 0 || (event.target as Element).closest('button, a, input')) return;
    const box = scroller.getBoundingClientRect();
    handlers.ontap?.((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }

  function wheel(event: WheelEvent): void {
    if (!event.ctrlKey) return;
    event.preventDefault();
    handlers.onpinch(Math.exp(-event.deltaY / 300));
  }

  scroller.addEventListener('pointerdown', down);
  scroller.addEventListener('pointermove', move);
  scroller.addEventListener('pointerup', up);
  scroller.addEventListener('pointercancel', up);
  scroller.addEventListener('wheel', wheel, { passive: false });
  return () => {
    scroller.removeEventListener('pointerdown', down);
    scroller.removeEventListener('pointermove', move);
    scroller.removeEventListener('pointerup', up);
    scroller.removeEventListener('pointercancel', up);
    scroller.removeEventListener('wheel', wheel);
  };
}
