// A list that people put in order by dragging the grip of each item, or by keys on it.
import { moved } from './pageOrder';

const BACK = new Set(['ArrowUp', 'ArrowLeft']);
const ON = new Set(['ArrowDown', 'ArrowRight']);

export class DragOrder<Each> {
  /** The element that has the items, each with its place as `data-at`. */
  element = $state<HTMLElement>();
  #held = $state<number>();
  #over = $state<number>();
  readonly #items: () => readonly Each[];
  readonly #onorder: (items: Each[]) => void;

  /** As they are while one is dragged, each with its place before. */
  readonly shown = $derived.by(() => {
    const numbered = this.#items().map((item, from) => ({ item, from }));
    return this.#held === undefined || this.#over === undefined
      ? numbered
      : moved(numbered, this.#held, this.#over);
  });

  constructor(items: () => readonly Each[], onorder: (items: Each[]) => void) {
    this.#items = items;
    this.#onorder = onorder;
  }

  isLifted(from: number): boolean {
    return this.#held === from;
  }

  lift(event: PointerEvent, at: number): void {
    if (event.button !== 0) return;
    event.preventDefault();
    this.#held = this.#over = at;
  }

  /** For the whole window: the grip itself moves with its item, and would lose the pointer by that. */
  drag = (event: PointerEvent): void => {
    if (this.#held === undefined || !this.element) return;
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>('[data-at]');
    if (under && this.element.contains(under)) this.#over = Number(under.dataset.at);
  };

  drop = (): void => {
    const [from, to] = [this.#held, this.#over];
    this.#held = this.#over = undefined;
    if (from !== undefined && to !== undefined && from !== to) this.#onorder(moved(this.#items(), from, to));
  };

  step(event: KeyboardEvent, at: number): void {
    const by = BACK.has(event.key) ? -1 : ON.has(event.key) ? 1 : 0;
    if (!by || this.#items()[at + by] === undefined) return;
    event.preventDefault();
    this.#onorder(moved(this.#items(), at, at + by));
  }
}
