// What a stage shows: where the reader is, how pages are laid out, and who turns them.
import { settled, shown, turned, type Layout, type Position, type Turn } from './pageTurn';
import { browserStorage } from '$lib/uploads/queue.svelte';
import { boundedZoom, recall, remember, type Paper, type View } from './viewMemory';

export class StageState {
  position = $state.raw<Position>({ at: 0, turned: false });
  view = $state.raw<View>({ layout: 'single', zoom: 1, paper: 'white' });
  #id: string;
  #count: () => number;

  readonly shown = $derived.by(() => shown(this.position, this.#count(), this.view.layout));

  constructor(id: string, count: () => number) {
    this.#id = id;
    this.#count = count;
    this.view = recall(browserStorage(), id);
  }

  turn(turn: Turn): void {
    this.position = turned(this.position, turn, this.#count(), this.view.layout);
  }

  goTo(at: number): void {
    this.position = settled({ at, turned: false }, this.#count(), this.view.layout);
  }

  /** After pages came or went. */
  settle(): void {
    const next = settled(this.position, this.#count(), this.view.layout);
    if (next.at !== this.position.at || next.turned !== this.position.turned) this.position = next;
  }

  setLayout(layout: Layout): void {
    this.#see({ layout });
    this.settle();
  }

  setZoom(zoom: number): void {
    this.#see({ zoom: boundedZoom(zoom) });
  }

  setPaper(paper: Paper): void {
    this.#see({ paper });
  }

  #see(some: Partial<View>): void {
    this.view = { ...this.view, ...some };
    remember(browserStorage(), this.#id, this.view);
  }
}
