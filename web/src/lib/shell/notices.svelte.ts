// Notices of the system, for whoever asked for them on this device: not while one looks at the app, nor in quiet hours.

import { showByWorker } from './noticeWorker';

const KEPT = 'notices';
const ICON = '/icon-192.png';

/** From when to when nothing is told, such as 22:00 to 07:00. */
export type Quiet = { from: string; to: string };
type Kept = { on: boolean; quiet: Quiet | null };
export type Notice = {
  title: string;
  body: string;
  /** Where whoever presses it is led. */
  path: string;
  /** A later notice with the same takes its place. */
  tag: string;
};

const USUAL: Kept = { on: false, quiet: { from: '22:00', to: '07:00' } };

/** Whether a time of day lies in quiet hours, which may go past midnight. */
export function isQuiet(quiet: Quiet | null, now: Date): boolean {
  if (!quiet || quiet.from === quiet.to) return false;
  const time = `${now.getHours()}`.padStart(2, '0') + ':' + `${now.getMinutes()}`.padStart(2, '0');
  const { from, to } = quiet;
  return from < to ? from <= time && time < to : time >= from || time < to;
}

class Notices {
  #kept = $state.raw<Kept>(read());
  /** What the browser allows; `none` where it has no notices, as over plain HTTP or in Safari of a phone. */
  permission = $state<NotificationPermission | 'none'>(permissionNow());

  get on(): boolean {
    return this.#kept.on && this.permission === 'granted';
  }

  get quiet(): Quiet | null {
    return this.#kept.quiet;
  }

  set quiet(quiet: Quiet | null) {
    this.#keep({ ...this.#kept, quiet });
  }

  /** To be called right after somebody pressed something: the browser asks them. */
  async begin(): Promise<void> {
    if (this.permission === 'none') return;
    this.permission = await Notification.requestPermission();
    this.#keep({ ...this.#kept, on: this.permission === 'granted' });
  }

  end(): void {
    this.#keep({ ...this.#kept, on: false });
  }

  /** Whether something would be told just now. */
  get due(): boolean {
    return this.on && !isLookedAt() && !isQuiet(this.quiet, new Date());
  }

  async tell({ title, body, path, tag }: Notice): Promise<void> {
    if (!this.due) return;
    const options = { body, tag, icon: ICON, data: { path } };
    if (await showByWorker(title, options)) return;
    const shown = new Notification(title, options);
    shown.onclick = () => {
      window.focus();
      location.assign(path);
    };
  }

  #keep(kept: Kept): void {
    this.#kept = kept;
    try {
      localStorage.setItem(KEPT, JSON.stringify(kept));
    } catch {
      // Storage is disabled: it lasts until the page is closed.
    }
  }
}

function isLookedAt(): boolean {
  return document.visibilityState === 'visible' && document.hasFocus();
}

function permissionNow(): NotificationPermission | 'none' {
  return 'Notification' in globalThis && isSecureContext ? Notification.permission : 'none';
}

function read(): Kept {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? 'null') as Partial<Kept> | null;
    return { ...USUAL, ...kept };
  } catch {
    return USUAL;
  }
}

export const notices = new Notices();
