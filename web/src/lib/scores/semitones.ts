// By how much music can be transposed, and how that is written.

/** From an octave higher to an octave lower. */
export const SEMITONES = Array.from({ length: 25 }, (_, at) => 12 - at);

export function semitones(by: number): string {
  return by > 0 ? `+${by}` : `−${-by}`;
}
