// Where the sign of a new jump is put: at the lower right, each above the one before.
import { GRID } from './strokeCode';

const RIGHT = 0.86 * GRID;
const LOWEST = 0.94 * GRID;
const APART = 0.06 * GRID;

export function nextJumpPlace(others: number): { x: number; y: number } {
  return { x: RIGHT, y: Math.round(LOWEST - (others % 14) * APART) };
}
