// The signs that musicians write again and again, as drawings of our own: lines of a pen in a box of 100 by 100.

export type StampName = keyof typeof STAMPS;
export type StampGroup = 'fingering' | 'bowing' | 'dynamics' | 'articulation' | 'reminder';

type Drawing = { group: StampGroup; lines: string };

/** The side of the box; its middle is where the stamp is put. */
export const BOX = 100;
/** How wide the pen is that draws in the box. */
export const STAMP_PEN = 6;

const P = 'M22 84 40 26M34 44Q48 26 60 34 70 44 58 60 46 70 34 58';
const M = 'M6 62 14 36M12 46Q22 32 28 40L22 62M26 46Q36 32 42 40L36 62M36 62 42 60';
const F = 'M66 16Q54 10 48 30L36 76Q30 92 18 84M30 40H62';

function moved(path: string, by: number): string {
  return path.replace(
    /([MLQCA]?)(-?\d+(?:\.\d+)?) (-?\d+(?:\.\d+)?)|([H])(-?\d+(?:\.\d+)?)/g,
    (_, ...parts) => {
      const [letter, x, y, level, to] = parts as string[];
      return level ? `${level}${Number(to) + by}` : `${letter ?? ''}${Number(x) + by} ${y ?? ''}`;
    },
  );
}

export const STAMPS = {
  'finger-0': { group: 'fingering', lines: 'M50 18C30 18 30 82 50 82 70 82 70 18 50 18' },
  'finger-1': { group: 'fingering', lines: 'M36 34 54 18V82' },
  'finger-2': { group: 'fingering', lines: 'M32 34C34 12 68 14 66 36 64 52 38 64 32 82H70' },
  'finger-3': { group: 'fingering', lines: 'M34 22H66L46 44C74 44 72 82 48 82 40 82 34 78 32 72' },
  'finger-4': { group: 'fingering', lines: 'M60 82V18L28 62H74' },
  'finger-5': { group: 'fingering', lines: 'M66 18H38L36 46C48 38 70 42 68 62 66 84 38 86 32 72' },
  thumb: { group: 'fingering', lines: 'M50 22C34 22 34 62 50 62 66 62 66 22 50 22M50 62V84' },
  'down-bow': { group: 'bowing', lines: 'M26 78V26H74V78M26 32H74M26 38H74' },
  'up-bow': { group: 'bowing', lines: 'M28 20 50 80 72 20' },
  breath: { group: 'bowing', lines: 'M52 24Q66 34 56 56 52 64 46 68' },
  caesura: { group: 'bowing', lines: 'M30 80 48 20M52 80 70 20' },
  slur: { group: 'bowing', lines: 'M8 62Q50 14 92 62' },
  pp: { group: 'dynamics', lines: moved(P, -14) + moved(P, 26) },
  p: { group: 'dynamics', lines: P },
  mp: { group: 'dynamics', lines: M + moved(P, 30) },
  mf: { group: 'dynamics', lines: M + moved(F, 30) },
  f: { group: 'dynamics', lines: F },
  ff: { group: 'dynamics', lines: moved(F, -14) + moved(F, 18) },
  crescendo: { group: 'dynamics', lines: 'M94 30 6 50 94 70' },
  diminuendo: { group: 'dynamics', lines: 'M6 30 94 50 6 70' },
  accent: { group: 'articulation', lines: 'M22 32 78 50 22 68' },
  staccato: { group: 'articulation', lines: 'M46 50A4 4 0 1 0 54 50A4 4 0 1 0 46 50M49 50H51' },
  tenuto: { group: 'articulation', lines: 'M22 50H78' },
  marcato: { group: 'articulation', lines: 'M30 78 50 22 70 78' },
  fermata: { group: 'articulation', lines: 'M14 70C16 18 84 18 86 70M47 62A3 3 0 1 0 53 62A3 3 0 1 0 47 62' },
  sharp: { group: 'articulation', lines: 'M40 18V84M60 16V82M28 42 72 34M28 66 72 58' },
  flat: { group: 'articulation', lines: 'M38 14V82C66 66 72 40 38 52' },
  natural: { group: 'articulation', lines: 'M38 14V66L62 58M62 86V34L38 42' },
  glasses: {
    group: 'reminder',
    lines:
      'M10 54A18 18 0 1 0 46 54A18 18 0 1 0 10 54M54 54A18 18 0 1 0 90 54A18 18 0 1 0 54 54M46 50Q50 44 54 50M10 50 4 38M90 50 96 38',
  },
  exclamation: { group: 'reminder', lines: 'M50 14V62M50 80V84' },
  circle: { group: 'reminder', lines: 'M84 46C80 10 18 12 14 50 14 92 88 90 86 48 84 34 76 22 62 16' },
  arrow: { group: 'reminder', lines: 'M10 50H86M66 30 86 50 66 70' },
  repeat: {
    group: 'reminder',
    lines: 'M24 30H66Q86 30 86 50M30 16 14 30 30 44M76 70H34Q14 70 14 50M70 84 86 70 70 56',
  },
} as const satisfies Record<string, Drawing>;

export const GROUPS: readonly StampGroup[] = ['fingering', 'bowing', 'dynamics', 'articulation', 'reminder'];

export function stampsOf(group: StampGroup): StampName[] {
  return (Object.keys(STAMPS) as StampName[]).filter((name) => STAMPS[name].group === group);
}

export function isStamp(name: string): name is StampName {
  return Object.hasOwn(STAMPS, name);
}
