// How far a picture is enlarged, and where: the point under a finger or the pointer stays there.

export type Point = { x: number; y: number };

const MOST = 5;
const ENLARGED = 2.5;

export class PictureZoom {
  scale = $state(1);
  shift = $state.raw<Point>({ x: 0, y: 0 });
  /** The box that the picture is in, and the picture itself as large as it is without zoom. */
  #sizes: () => { box: Point; picture: Point };

  constructor(sizes: () => { box: Point; picture: Point }) {
    this.#sizes = sizes;
  }

  get isOn(): boolean {
    return this.scale > 1;
  }

  /** `centre` is measured from the middle of the box. */
  to(scale: number, centre: Point = { x: 0, y: 0 }): void {
    const next = Math.min(MOST, Math.max(1, scale));
    const factor = next / this.scale;
    const { x, y } = this.shift;
    this.scale = next;
    this.#moveTo({ x: centre.x - (centre.x - x) * factor, y: centre.y - (centre.y - y) * factor });
  }

  toggle(centre?: Point): void {
    this.to(this.isOn ? 1 : ENLARGED, centre);
  }

  by({ x, y }: Point): void {
    this.#moveTo({ x: this.shift.x + x, y: this.shift.y + y });
  }

  reset(): void {
    this.scale = 1;
    this.shift = { x: 0, y: 0 };
  }

  /** Its edges do not come into the box. */
  #moveTo({ x, y }: Point): void {
    const { box, picture } = this.#sizes();
    const within = (way: number, most: number): number => Math.min(most, Math.max(-most, way));
    this.shift = {
      x: within(x, Math.max(0, (picture.x * this.scale - box.x) / 2)),
      y: within(y, Math.max(0, (picture.y * this.scale - box.y) / 2)),
    };
  }
}
