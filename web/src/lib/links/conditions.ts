// The conditions of a link in a form, and their translation for the server, for a new link and for a change.
import type { LinkChange, LinkView, NewLink, ThingKind } from '$lib/api/links';
import { dayAfter, endOfDay, momentAfter } from '$lib/shell/expiry';

export type Term = 'never' | '1' | '7' | '30' | 'day';

/** As typed: an empty text is no condition. */
export type Conditions = {
  name: string;
  note: string;
  password: string;
  /** Of a link that has one: it shall have none. */
  passwordGone: boolean;
  term: Term;
  day: string;
  /** The local moment before which it does not open, as the browser writes it. */
  start: string;
  /** A word in the address. */
  alias: string;
  downloads: string;
  megabytes: string;
  /** Visitors may add photos to an album. */
  mayAdd: boolean;
};

const MEGABYTE = 1_000_000;

export function noConditions(): Conditions {
  return {
    name: '',
    note: '',
    password: '',
    passwordGone: false,
    term: 'never',
    day: dayAfter(7),
    start: '',
    alias: '',
    downloads: '',
    megabytes: '',
    mayAdd: false,
  };
}

/** Its own as they are; a password cannot be read back. */
export function conditionsOf(link: LinkView): Conditions {
  return {
    ...noConditions(),
    name: link.name,
    note: link.note,
    term: link.expires_at ? 'day' : 'never',
    day: link.expires_at ? dayAfter(0, Date.parse(link.expires_at)) : dayAfter(7),
    start: link.starts_at ? localMoment(link.starts_at) : '',
    alias: link.alias ?? '',
    downloads: link.downloads_limit ? String(link.downloads_limit) : '',
    megabytes: link.max_bytes ? String(link.max_bytes / MEGABYTE) : '',
    mayAdd: link.may_add,
  };
}

/** Only files, folders and albums are downloaded. */
export function hasDownloads(kind: ThingKind): boolean {
  return kind === 'file' || hasManyFiles(kind);
}

/** They are also taken all at once. */
export function hasManyFiles(kind: ThingKind): boolean {
  return kind === 'folder' || kind === 'selection' || isGallery(kind);
}

/** They are shown as photos. */
export function isGallery(kind: ThingKind): boolean {
  return kind === 'album' || kind === 'photos';
}

export function newLink(kind: ThingKind, id: string, wanted: Conditions): NewLink {
  return {
    thing: { kind, id },
    name: wanted.name,
    note: wanted.note,
    password: wanted.password || null,
    expires_at: endOf(wanted),
    starts_at: startOf(wanted),
    alias: wanted.alias,
    downloads: hasDownloads(kind) ? wholeNumber(wanted.downloads) : null,
    max_bytes: kind === 'request' ? bytesIn(wanted.megabytes) : null,
    ...(kind === 'album' && { may_add: wanted.mayAdd }),
  };
}

/** Only what has changed, so that an end that is hours away is not moved to the end of its day. */
export function changeOf(link: LinkView, wanted: Conditions): LinkChange {
  const before = conditionsOf(link);
  const change: LinkChange = {};
  if (wanted.name !== before.name) change.name = wanted.name;
  if (wanted.note !== before.note) change.note = wanted.note;
  if (wanted.password) change.password = wanted.password;
  else if (wanted.passwordGone) change.password = null;
  if (wanted.term !== before.term || (wanted.term === 'day' && wanted.day !== before.day)) {
    change.expires_at = endOf(wanted);
  }
  if (wanted.start !== before.start) change.starts_at = startOf(wanted);
  if (wanted.alias !== before.alias) change.alias = wanted.alias;
  if (wanted.downloads !== before.downloads) change.downloads = wholeNumber(wanted.downloads);
  if (wanted.megabytes !== before.megabytes) change.max_bytes = bytesIn(wanted.megabytes);
  if (wanted.mayAdd !== before.mayAdd) change.may_add = wanted.mayAdd;
  return change;
}

/** So many more days than it has left, or from now on if it has none left. */
export function extended(link: LinkView, days: number, now = Date.now()): string {
  const end = link.expires_at ? Date.parse(link.expires_at) : now;
  return momentAfter(days, Math.max(end, now));
}

function endOf({ term, day }: Conditions): string | null {
  if (term === 'never') return null;
  return term === 'day' ? endOfDay(day) : momentAfter(Number(term));
}

function startOf({ start }: Conditions): string | null {
  return start ? new Date(start).toISOString() : null;
}

/** As a field for a local date and time takes it. */
function localMoment(moment: string): string {
  const local = new Date(moment);
  local.setMinutes(local.getMinutes() - local.getTimezoneOffset());
  return local.toISOString().slice(0, 16);
}

function wholeNumber(typed: string): number | null {
  return Number(typed) || null;
}

function bytesIn(megabytes: string): number | null {
  return Math.round(Number(megabytes) * MEGABYTE) || null;
}
