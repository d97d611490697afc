// Whether something that should happen again and again has stopped happening.

const MISSED_INTERVALS = 3;

export function isOverdue(last: string, everySeconds: number, now = Date.now()): boolean {
  return now - Date.parse(last) > MISSED_INTERVALS * everySeconds * 1000;
}
