// How somebody reads a score on this device: layout, zoom and paper, remembered for each score.
import type { Layout } from './pageTurn';

export type Paper = 'white' | 'cream' | 'night';
export type View = { layout: Layout; zoom: number; paper: Paper };

export const MOST_ZOOM = 4;
const LAYOUTS: readonly unknown[] = ['single', 'half', 'double'];
const PAPERS: readonly unknown[] = ['white', 'cream', 'night'];

/** The part of `Storage` that is needed. */
type Kept = Pick<Storage, 'getItem' | 'setItem'>;

export function recall(storage: Kept | undefined, id: string): View {
  const kept = parsed(storage, id);
  const { layout, zoom, paper } = kept;
  return {
    layout: LAYOUTS.includes(layout) ? (layout as Layout) : 'single',
    zoom: typeof zoom === 'number' ? boundedZoom(zoom) : 1,
    paper: PAPERS.includes(paper) ? (paper as Paper) : 'white',
  };
}

export function remember(storage: Kept | undefined, id: string, view: View): void {
  try {
    storage?.setItem(keyOf(id), JSON.stringify(view));
  } catch {
    // It is full or switched off: the view lasts until the page is closed.
  }
}

export function boundedZoom(zoom: number): number {
  const inside = Math.min(MOST_ZOOM, Math.max(1, zoom));
  return Number.isFinite(inside) ? Math.round(inside * 100) / 100 : 1;
}

function parsed(storage: Kept | undefined, id: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(storage?.getItem(keyOf(id)) ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function keyOf(id: string): string {
  return `score-view:${id}`;
}
