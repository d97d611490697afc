// A score that somebody looks at: its pages, its marks, and who else looks at it, kept up to date while they do.
import { Problem } from '$lib/api/client';
import { live } from '$lib/live/live.svelte';
import {
  attend,
  leaveStand,
  readScore,
  readSnapshot,
  type Import,
  type Item,
  type Page,
  type Person,
  type Score,
} from './scoreCalls';
import { ScoreMarks } from './scoreMarks.svelte';

const ATTEND_EVERY_MS = 30_000;

export class OpenScore {
  score = $state.raw<Score>();
  problem = $state.raw<Problem>();
  people = $state.raw<Person[]>([]);
  /** Somebody has deleted it, or does not share it any more. */
  isGone = $state(false);
  readonly marks: ScoreMarks;
  readonly scoreId: string;
  readonly me: string | undefined;
  /** It is shown as it was then. */
  readonly snapshotId: string | undefined;
  #reading: Promise<void> | undefined;
  #isStale = false;

  readonly #readFrom: (() => Promise<Score>) | undefined;

  constructor(
    scoreId: string,
    me: string | undefined,
    snapshotId?: string,
    /** Where else it is read from: by a link. */
    readFrom?: () => Promise<Score>,
  ) {
    this.#readFrom = readFrom;
    this.scoreId = scoreId;
    // What was cannot be changed, so nothing in it is one's own.
    this.me = snapshotId === undefined ? me : undefined;
    this.snapshotId = snapshotId;
    this.marks = new ScoreMarks(scoreId, this.me);
    void this.load();
  }

  get canMark(): boolean {
    return this.me !== undefined && this.score !== undefined && this.score.role !== 'reader';
  }

  get canEdit(): boolean {
    return this.score?.role === 'owner' || this.score?.role === 'editor';
  }

  /** While it is read, more changes may come: they are read together, once more. */
  load = (): Promise<void> => {
    if (this.#reading) {
      this.#isStale = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  };

  async #read(): Promise<void> {
    do {
      this.#isStale = false;
      await this.#readOnce();
    } while (this.#isStale);
  }

  async #readOnce(): Promise<void> {
    try {
      const { scoreId, snapshotId } = this;
      if (this.#readFrom) this.show(await this.#readFrom());
      else if (snapshotId === undefined) this.show(await readScore(scoreId));
      else this.show(await readSnapshot(scoreId, snapshotId));
      this.problem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (failure.status === 404 && this.score) this.isGone = true;
      else this.problem = failure;
    }
  }

  show(score: Score): void {
    this.score = score;
    // A change of the structure is answered without marks.
    if (score.marks) this.marks.show(score.layers, score.marks);
  }

  /** Returns a function that ends it. */
  listen(): () => void {
    const ours = (scoreId: string): boolean => scoreId === this.scoreId;
    const ends = [
      live.on('score.changed', ({ score_id, etag }) => {
        if (ours(score_id) && etag !== this.score?.etag) void this.load();
      }),
      live.on('score.import', (news) => ours(news.score_id) && this.#madeMore(news)),
      live.on('score.marks', (news) => ours(news.score_id) && this.marks.heard(news)),
      live.on('score.layers', ({ score_id }) => ours(score_id) && void this.marks.reload()),
      live.on('score.deleted', ({ score_id }) => ours(score_id) && (this.isGone = true)),
      live.on('resync', () => void this.load()),
    ];
    return () => ends.forEach((end) => end());
  }

  #madeMore({
    import_id,
    state,
    pages_done,
    pages_total,
  }: Pick<Import, 'import_id' | 'state' | 'pages_done' | 'pages_total'>): void {
    const { score } = this;
    const known = score?.imports.some((each) => each.import_id === import_id);
    if (!score || !known || state === 'ready' || state === 'failed') return void this.load();
    const imports = score.imports.map((each) =>
      each.import_id === import_id ? { ...each, state, pages_done, pages_total } : each,
    );
    this.score = { ...score, imports };
  }

  /** Says that one is here, and on which page; returns a function that ends it. */
  attend(pageId: () => number | undefined, { leaves = true } = {}): () => void {
    if (this.me === undefined) return () => undefined;
    let isOver = false;
    const say = async (): Promise<void> => {
      try {
        const people = await attend(this.scoreId, pageId());
        if (!isOver) this.people = people.filter(({ person_id }) => person_id !== this.me);
      } catch (failure) {
        // Whoever plays must not be bothered with it.
        if (!(failure instanceof Problem)) throw failure;
      }
    };
    const timer = setInterval(() => void say(), ATTEND_EVERY_MS);
    void say();
    return () => {
      isOver = true;
      clearInterval(timer);
      if (leaves) leaveStand(this.scoreId).catch(() => undefined);
    };
  }
}

/** The pages that a part plays from; all of them if it names none. */
export function pagesOf({ pages, parts }: Score, partId: number | undefined): Page[] {
  const wanted = parts.find(({ part_id }) => part_id === partId)?.page_ids ?? [];
  if (!wanted.length) return pages;
  return wanted.flatMap((id) => pages.find(({ page_id }) => page_id === id) ?? []);
}

export function itemPath(scoreId: string, { item_id }: Pick<Item, 'item_id'>): string {
  return `/api/v1/scores/${scoreId}/items/${item_id}/content`;
}

/** A small picture of a page; the page itself where there is none, or none yet. */
export function thumbPath(scoreId: string, item: Pick<Item, 'item_id' | 'picture'>): string {
  if (item.picture?.state !== 'ready') return itemPath(scoreId, item);
  return `/api/v1/scores/${scoreId}/items/${item.item_id}/picture/grid/${encodeURIComponent(item.picture.version)}`;
}
