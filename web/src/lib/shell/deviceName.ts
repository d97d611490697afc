// What a device is called: the few words in a browser's long description of itself that a person recognises.

const BROWSERS: [RegExp, string][] = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

/** “Firefox · Linux” from a user agent; whatever is none, such as a name that was given, stays as it is. */
export function deviceName(described: string): string {
  if (!described.startsWith('Mozilla/')) return described;
  const found = [BROWSERS, SYSTEMS].map((list) => list.find(([pattern]) => pattern.test(described))?.[1]);
  return found.filter(Boolean).join(' · ') || described;
}
