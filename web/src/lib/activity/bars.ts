// The geometry of a bar chart.
import { scaleBand, scaleLinear } from 'd3-scale';
import { KINDS, type Figures, type Kind } from './stats';
import type { Shown } from './view';

export type Piece = { kind: Kind; from: number; to: number };
export type Frame = {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
};
export type Bar = { period: string; figures: Figures };

export function kindsShown(shown: Shown, bars: readonly Bar[]): Kind[] {
  if (shown !== 'all') return [shown];
  return KINDS.filter((kind) => bars.some(({ figures }) => figures[kind] > 0));
}

/** One piece of a bar on top of the other, those of nothing left out. */
export function stacked(figures: Figures, kinds: readonly Kind[]): Piece[] {
  let reached = 0;
  return kinds
    .map((kind) => ({ kind, from: reached, to: (reached += figures[kind]) }))
    .filter(({ from, to }) => to > from);
}

export function scalesOf(bars: readonly Bar[], kinds: readonly Kind[], frame: Frame) {
  const most = Math.max(1, ...bars.map(({ figures }) => kinds.reduce((sum, kind) => sum + figures[kind], 0)));
  const x = scaleBand()
    .domain(bars.map(({ period }) => period))
    .range([frame.left, frame.width - frame.right])
    .paddingInner(bars.length > 60 ? 0.15 : 0.25);
  const y = scaleLinear()
    .domain([0, most])
    .nice(4)
    .range([frame.height - frame.bottom, frame.top]);
  return { x, y, ticks: y.ticks(4).filter(Number.isInteger) };
}

/** A line through the points, broken where one is not known. */
export function lineThrough(points: readonly ({ x: number; y: number } | null)[]): string {
  return points
    .map((point, index) => point && `${index > 0 && points[index - 1] ? 'L' : 'M'}${point.x},${point.y}`)
    .filter(Boolean)
    .join('');
}

/** Which of the bars have their name under them, counted from the newest so that this one has; no two names touch. */
export function labelled(count: number, room: number, labelWidth: number): number[] {
  const most = Math.max(1, Math.floor(room / labelWidth));
  const every = Math.ceil(count / most);
  return Array.from({ length: count }, (_, index) => index).filter(
    (index) => (count - 1 - index) % every === 0,
  );
}
