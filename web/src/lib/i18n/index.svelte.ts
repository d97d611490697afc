// The words of the app in the reader's language, and numbers, sizes and times as that language writes them.
import type english from './en.json';

export const LOCALES = ['en', 'zh-Hant', 'ja'] as const;
export type Locale = (typeof LOCALES)[number];
export const LOCALE_NAMES: Record<Locale, string> = { en: 'English', 'zh-Hant': '繁體中文', ja: '日本語' };

export type Key = keyof typeof english;
type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };
type Messages = Record<string, string | Plural>;
type Values = Record<string, string | number>;

/** The words of the first pages, also those of a link's page, also those of a room's door, or all: see `web/chunks.ts`. */
const PARTS = ['first', 'link', 'door', 'all'] as const;
type Part = (typeof PARTS)[number];

// Nobody loads other languages, nor at the door the words of what lies behind it.
const load: Record<Locale, Record<Part, () => Promise<{ default: Messages }>>> = {
  en: {
    first: () => import('./en.json?part=first'),
    link: () => import('./en.json?part=link'),
    door: () => import('./en.json?part=door'),
    all: () => import('./en.json'),
  },
  'zh-Hant': {
    first: () => import('./zh-Hant.json?part=first'),
    link: () => import('./zh-Hant.json?part=link'),
    door: () => import('./zh-Hant.json?part=door'),
    all: () => import('./zh-Hant.json'),
  },
  ja: {
    first: () => import('./ja.json?part=first'),
    link: () => import('./ja.json?part=link'),
    door: () => import('./ja.json?part=door'),
    all: () => import('./ja.json'),
  },
};

let locale = $state<Locale>('en');
let variety = $state('en');
let messages = $state.raw<Messages>({});
/** The language and the words that were last asked for. */
let spoken: Locale | undefined;
let wanted: Part = 'first';

export function currentLocale(): Locale {
  return locale;
}

/** The language as it is written where the reader is, for dates and numbers. */
export function currentVariety(): string {
  return variety;
}

/** The language that was chosen here before, else the first of the browser's that we speak. */
export function preferredLocale(chosen: string | null, wanted: readonly string[]): Locale {
  if (LOCALES.includes(chosen as Locale)) return chosen as Locale;
  for (const tag of wanted) {
    const language = tag.toLowerCase().split('-')[0];
    if (language === 'en' || language === 'ja') return language;
    // Whoever reads Simplified reads Traditional sooner than English.
    if (language === 'zh') return 'zh-Hant';
  }
  return 'en';
}

/** The first of the browser's languages that is this one in the same script: British dates are no American ones. */
export function varietyOf(spoken: Locale, wanted: readonly string[]): string {
  return wanted.find((tag) => written(tag) === written(spoken)) ?? spoken;
}

function written(tag: string): string {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return `${language}-${script}`;
  } catch {
    // Some systems name languages in a way that is none of the web's.
    return tag;
  }
}

/** The words of a page, before it is shown, in the language of the visitor; nothing if they are there. */
export async function haveWords(part: Part): Promise<void> {
  if (PARTS.indexOf(part) > PARTS.indexOf(wanted)) wanted = part;
  await speak(spoken ?? preferredLocale(remembered(), navigator.languages));
}

export async function chooseLocale(next: Locale): Promise<void> {
  await speak(next);
  try {
    localStorage.setItem('locale', next);
  } catch {
    // Storage is disabled: the choice lasts until the page is closed.
  }
}

async function speak(next: Locale): Promise<void> {
  const part = wanted;
  const before = spoken;
  spoken = next;
  let words: Messages;
  try {
    words = (await load[next][part]()).default;
  } catch (failure) {
    spoken = before;
    throw failure;
  }
  // Somebody has asked for another language or for more meanwhile.
  if (spoken !== next || wanted !== part) return speak(spoken);
  messages = words;
  locale = next;
  variety = varietyOf(next, navigator.languages);
  document.documentElement.lang = next;
}

function remembered(): string | null {
  try {
    return localStorage.getItem('locale');
  } catch {
    return null;
  }
}

/** The message in the reader's language; `{name}` in it is replaced, and `count` picks the plural. */
export function t(key: Key, values: Values = {}): string {
  const told = tryTo(key, values);
  // It belongs to a page whose words nobody has asked for: late is better than never.
  if (told === undefined && wanted !== 'all') void haveWords('all').catch(() => undefined);
  return told ?? key;
}

/** Like `t`, for keys put together at run time, which may not exist. */
export function tryTo(key: string, values: Values = {}): string | undefined {
  const message = messages[key];
  if (message === undefined) return undefined;
  return fill(typeof message === 'string' ? message : plural(message, values.count), values);
}

function plural(message: Plural, count: string | number | undefined): string {
  return message[new Intl.PluralRules(locale).select(Number(count))] ?? message.other;
}

function fill(message: string, values: Values): string {
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? number(value) : isolated(value);
  });
}

/** A name that is read from right to left must not turn the sentence around it. */
function isolated(text: string): string {
  return /[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(text) ? `\u2068${text}\u2069` : text;
}

export function number(value: number): string {
  return new Intl.NumberFormat(variety).format(value);
}

const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

export function size(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), SIZES.length - 1);
  return new Intl.NumberFormat(variety, {
    style: 'unit',
    unit: SIZES[step],
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: step < 2 ? 0 : 1,
  }).format(bytes / 1000 ** step);
}

export function speed(bytesPerSecond: number): string {
  return t('size.perSecond', { size: size(bytesPerSecond) });
}

/** A span of time in its one or two largest units. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: [number, 'hour' | 'minute' | 'second'][] = [
    [Math.floor(whole / 3600), 'hour'],
    [Math.floor((whole % 3600) / 60), 'minute'],
    [whole % 60, 'second'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  const shown = first < 0 ? parts.slice(2) : parts.slice(first, first + 2).filter(([amount]) => amount > 0);
  return shown
    .map(([amount, unit]) =>
      new Intl.NumberFormat(variety, { style: 'unit', unit, unitDisplay: 'short' }).format(amount),
    )
    .join(' ');
}

export function date(moment: string): string {
  return new Intl.DateTimeFormat(variety, { dateStyle: 'medium', timeStyle: 'short' }).format(
    Date.parse(moment),
  );
}

/** The time of day; of another day, with that day. */
export function clock(moment: string, now = Date.now()): string {
  const then = Date.parse(moment);
  const day = new Intl.DateTimeFormat(variety, { dateStyle: 'short' });
  if (day.format(then) !== day.format(now)) return date(moment);
  return new Intl.DateTimeFormat(variety, { timeStyle: 'short' }).format(then);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** “3 hours ago”, “in 2 days”; anything under a minute is now. */
export function ago(moment: string, now = Date.now()): string {
  const seconds = (Date.parse(moment) - now) / 1000;
  const format = new Intl.RelativeTimeFormat(variety, { numeric: 'auto' });
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  }
  return format.format(0, 'second');
}
