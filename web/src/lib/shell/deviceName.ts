// The name of a device: the browser and the system in its user agent.

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

/** “Firefox · Linux” from a user agent; any other text stays as it is. */
export function deviceName(described: string): string {
  if (!described.startsWith('Mozilla/')) return described;
  const found = [BROWSERS, SYSTEMS].map((list) => list.find(([pattern]) => pattern.test(described))?.[1]);
  return found.filter(Boolean).join(' · ') || described;
}
