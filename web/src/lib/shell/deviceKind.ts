// The kind of a device, guessed from its name.

export type DeviceKind = 'phone' | 'tablet' | 'computer' | 'terminal';

const KINDS: [RegExp, DeviceKind][] = [
  [/ipad|tablet/i, 'tablet'],
  [/android|iphone|phone|mobile/i, 'phone'],
  [/satchel|command|terminal|curl|httpx|python/i, 'terminal'],
];

export function deviceKind(device: string): DeviceKind {
  return KINDS.find(([pattern]) => pattern.test(device))?.[1] ?? 'computer';
}
