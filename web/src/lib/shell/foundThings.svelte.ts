// What the server finds while somebody types: the last question counts, and the last answer stays until the next is here.
import { DoorOpen, FileMusic, FileText, Folder, Images, Link, ListMusic, UserRound } from '@lucide/svelte';
import { ask, http } from '$lib/api/client';
import { Problem } from '$lib/api/problems';
import type { components } from '$lib/api/schema';

export type Hit = components['schemas']['SearchHit'];

const TYPING_MS = 150;

export const KIND_ICONS = {
  file: FileText,
  folder: Folder,
  album: Images,
  score: FileMusic,
  'set-list': ListMusic,
  room: DoorOpen,
  link: Link,
  person: UserRound,
} as const satisfies Record<Hit['kind'], unknown>;

export class FoundThings {
  hits = $state.raw<Hit[]>([]);
  /** Not everything could be looked at. */
  partial = $state(false);
  busy = $state(false);
  problem = $state.raw<Problem>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  look(typed: string): void {
    const [number, q] = [++this.#asked, typed.trim()];
    clearTimeout(this.#timer);
    this.busy = q !== '';
    if (q) this.#timer = setTimeout(() => void this.#find(number, q), TYPING_MS);
    else {
      this.hits = [];
      this.partial = false;
      this.problem = undefined;
    }
  }

  async #find(number: number, q: string): Promise<void> {
    try {
      const { hits, partial } = await ask(http.GET('/api/v1/search', { params: { query: { q } } }));
      if (number !== this.#asked) return;
      this.hits = hits;
      this.partial = partial;
      this.problem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (number === this.#asked) this.problem = failure;
    } finally {
      if (number === this.#asked) this.busy = false;
    }
  }
}

/** The page that shows it. */
export function addressOfFound({ kind, id, name, folder_id }: Hit): string {
  switch (kind) {
    case 'file':
      return `${shelfAddress(folder_id)}?view=${encodeURIComponent(id)}`;
    case 'folder':
      return shelfAddress(id);
    case 'album':
      return `/albums/${id}`;
    case 'score':
      return `/scores/${id}`;
    case 'set-list':
      return `/scores/lists/${id}`;
    case 'room':
      return '/rooms';
    case 'link':
      return `/links?q=${encodeURIComponent(name)}`;
    case 'person':
      return '/administration';
  }
}

function shelfAddress(folder: string | null): string {
  return folder === null || folder === 'root' ? '/shelf' : `/shelf/${folder}`;
}
