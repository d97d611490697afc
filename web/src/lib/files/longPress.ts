// Detects a long press: a finger that stays selects, one that moves scrolls, and one that lifts opens.

const LONG_MS = 450;
const STILL_PX = 10;

export class LongPress {
  #onlong: (id: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #from = { x: 0, y: 0 };
  #happened = false;

  constructor(onlong: (id: string) => void) {
    this.#onlong = onlong;
  }

  begin(id: string, { clientX, clientY }: PointerEvent): void {
    this.#happened = false;
    this.#from = { x: clientX, y: clientY };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#happened = true;
      this.#onlong(id);
      if ('vibrate' in navigator) navigator.vibrate(10);
    }, LONG_MS);
  }

  move = ({ clientX, clientY }: PointerEvent): void => {
    if (Math.hypot(clientX - this.#from.x, clientY - this.#from.y) > STILL_PX) this.end();
  };

  end = (): void => clearTimeout(this.#timer);

  /** Whether the next click belongs to a long press that was handled already. */
  swallow(): boolean {
    const happened = this.#happened;
    this.#happened = false;
    return happened;
  }
}
