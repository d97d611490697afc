// What is in the hand of whoever marks a score: a pen, a highlighter, words, a stamp or an eraser; kept on this device.
import { textMark, type NewMark, type Place } from './marks';
import { isStamp, type StampName } from './stamps';

export type Tool = 'pen' | 'highlighter' | 'text' | 'stamp' | 'eraser';

/** A soft pencil first, then what shows on printed notes. */
export const COLOURS = ['#3d3d3d', '#c22b21', '#1f5fbf', '#2b7a3e', '#8a3fa8', '#c46a00'] as const;
export const HIGHLIGHTS = ['#ffd84d', '#8fe08a', '#ff9db8', '#8fd3ff'] as const;
/** Widths of the pen, in 1/10000 of the width of the page. */
export const PENS = [14, 26, 48] as const;
const HIGHLIGHTER = 180;
const KEY = 'score-tools';

type Kept = {
  tool: Tool;
  colour: string;
  highlight: string;
  pen: number;
  stamp: StampName;
  size: number;
  fingerDraws: boolean;
};

const FIRST: Kept = {
  tool: 'pen',
  colour: COLOURS[1],
  highlight: HIGHLIGHTS[0],
  pen: PENS[1],
  stamp: 'up-bow',
  size: 420,
  fingerDraws: false,
};

export class MarkTools {
  kept = $state<Kept>(remembered());

  get colour(): string {
    return this.kept.tool === 'highlighter' ? this.kept.highlight : this.kept.colour;
  }

  get width(): number {
    return this.kept.tool === 'highlighter' ? HIGHLIGHTER : this.kept.pen;
  }

  take(tool: Tool): void {
    this.change({ tool });
  }

  change(some: Partial<Kept>): void {
    this.kept = { ...this.kept, ...some };
    try {
      localStorage.setItem(KEY, JSON.stringify(this.kept));
    } catch {
      // Storage is switched off: they are kept until the page is closed.
    }
  }

  /** Words as they are written with what is in the hand. */
  text(pageId: number, at: Place, text: string): NewMark {
    return textMark(pageId, this.kept.colour, at, text, this.kept.size);
  }

  chooseColour(colour: string): void {
    this.change(this.kept.tool === 'highlighter' ? { highlight: colour } : { colour });
  }
}

function remembered(): Kept {
  try {
    const kept = { ...FIRST, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Kept>) };
    return isStamp(kept.stamp) ? kept : FIRST;
  } catch {
    return FIRST;
  }
}
