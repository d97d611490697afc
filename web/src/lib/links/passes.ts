// The pass that was given on entering a link, kept by the tab, so that neither a reload nor coming back is a
// second opening.

/** The pass, and where the link leads to if that is elsewhere; both empty if there is none. */
export type Kept = { pass: string; leadsTo: string };

const PREFIX = 'link:';
const DOOR_PREFIX = 'link-door:';

export function passFor(token: string): Kept {
  try {
    const [pass, leadsTo] = [PREFIX, DOOR_PREFIX].map(
      (prefix) => sessionStorage.getItem(prefix + token) ?? '',
    );
    return { pass: pass ?? '', leadsTo: leadsTo ?? '' };
  } catch {
    return { pass: '', leadsTo: '' };
  }
}

export function keepPass(token: string, { pass, leadsTo }: Kept): void {
  try {
    sessionStorage.setItem(PREFIX + token, pass);
    sessionStorage.setItem(DOOR_PREFIX + token, leadsTo);
  } catch {
    // Storage is disabled: it lasts until the page is closed.
  }
}

export function forgetPass(token: string): void {
  keepPass(token, { pass: '', leadsTo: '' });
}
