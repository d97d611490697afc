// A score that somebody looks at: its pages, its marks, and who else looks at it, kept up to date while they do.
import { Problem } from '$lib/api/client';
import { live } from '$lib/live/live.svelte';
import { removePack } from './offlinePacks';
import { Player } from './player.svelte';
import {
  attend,
  isPlain,
  leaveStand,
  PLAIN,
  readLayout,
  readPlayback,
  readScore,
  readSnapshot,
  type Import,
  type Layout,
  type LayoutChoice,
  type Page,
  type Playback,
  type Person,
  type Score,
} from './scoreCalls';
import { ScoreMarks } from './scoreMarks.svelte';

const ATTEND_EVERY_MS = 30_000;

/** Where else a score is read from: by a link. */
type Elsewhere = {
  score: () => Promise<Score>;
  playback: () => Promise<Playback>;
  layout: (choice: LayoutChoice) => Promise<Layout>;
  live: Pick<typeof live, 'on'>;
};

export class OpenScore {
  score = $state.raw<Score>();
  problem = $state.raw<Problem>();
  people = $state.raw<Person[]>([]);
  /** Somebody has deleted it, or does not share it any more. */
  isGone = $state(false);
  readonly marks: ScoreMarks;
  readonly player = new Player(this);
  readonly scoreId: string;
  readonly me: string | undefined;
  /** It is shown as it was then. */
  readonly snapshotId: string | undefined;
  #reading: Promise<void> | undefined;
  #isStale = false;

  /** As this reader wants the music laid out; undefined for the score as it is. */
  laid = $state.raw<Layout>();
  layout = $state.raw<LayoutChoice>(PLAIN);
  layoutProblem = $state.raw<Problem>();
  isLayingOut = $state(false);
  instruments = $state.raw<string[]>([]);
  /** Whether the pages of a layout are shown here: a set list shows those that it names. */
  showsLayouts = $state(false);

  readonly #from: Elsewhere | undefined;

  constructor(scoreId: string, me: string | undefined, snapshotId?: string, from?: Elsewhere) {
    this.#from = from;
    this.scoreId = scoreId;
    // What was cannot be changed, so nothing in it is one's own.
    this.me = snapshotId === undefined ? me : undefined;
    this.snapshotId = snapshotId;
    this.marks = new ScoreMarks(
      scoreId,
      this.me,
      from &&
        (async (layout) => {
          const { layers, marks } = await (layout ? from.layout(layout) : from.score());
          return { layers, marks: marks ?? [] };
        }),
    );
    void this.load();
  }

  get #live(): Pick<typeof live, 'on'> {
    return this.#from?.live ?? live;
  }

  get canMark(): boolean {
    return this.me !== undefined && this.score !== undefined && this.score.role !== 'reader';
  }

  get canEdit(): boolean {
    return this.score?.role === 'owner' || this.score?.role === 'editor';
  }

  /** Music that can be played. */
  get isEngraved(): boolean {
    const pages = this.score?.pages ?? [];
    return this.snapshotId === undefined && pages.some(({ item }) => item.kind === 'svg');
  }

  /** Whether this reader can have it laid out as they like. */
  get canLayOut(): boolean {
    return this.showsLayouts && this.isEngraved;
  }

  readPlayback(): Promise<Playback> {
    return this.#from ? this.#from.playback() : readPlayback(this.scoreId);
  }

  async loadInstruments(): Promise<void> {
    if (!this.instruments.length) await this.choose(this.layout);
  }

  /** Have the music laid out so, with the marks where the music is. */
  async choose(choice: LayoutChoice): Promise<void> {
    this.layout = choice;
    this.isLayingOut = true;
    try {
      const layout = await (this.#from ? this.#from.layout(choice) : readLayout(this.scoreId, choice));
      // Meanwhile, something else may have been chosen.
      if (this.layout !== choice) return;
      this.instruments = layout.instruments;
      const wasLaid = this.laid;
      this.laid = isPlain(choice) ? undefined : layout;
      if (wasLaid || this.laid) {
        this.marks.moveTo(this.laid && choice);
        this.marks.show(layout.layers, layout.marks);
      }
      this.layoutProblem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.layoutProblem = failure;
    } finally {
      if (this.layout === choice) this.isLayingOut = false;
    }
  }

  /** Where to turn to when a leader has: in a layout of one's own, pages are others, and bars the same. */
  pageOfTurn({ page_id, bar }: { page_id: number; bar: number | null }): number | undefined {
    if (!this.laid || bar === null) return page_id;
    return this.laid.bars.findLast((each) => each.bar <= bar)?.page_id;
  }

  /** What tells those who follow where this page is: of a layout, they know the bars only. */
  turnTo(pageId: number): { page_id?: number; bar?: number } {
    if (!this.laid) return { page_id: pageId };
    const first = this.laid.bars.find(({ page_id }) => page_id === pageId)?.bar;
    return first === undefined ? { page_id: pageId } : { bar: first };
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
      if (this.#from) this.show(await this.#from.score());
      else if (snapshotId === undefined) this.show(await readScore(scoreId));
      else this.show(await readSnapshot(scoreId, snapshotId));
      if (this.laid) await this.choose(this.layout);
      this.problem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      if (failure.status === 404) this.#forget();
      if (failure.status === 404 && this.score) this.isGone = true;
      else this.problem = failure;
    }
  }

  /** Who may not read it any more keeps nothing of it. */
  #forget(): void {
    if (this.me !== undefined) void removePack(this.me, { kind: 'scores', id: this.scoreId });
  }

  show(score: Score): void {
    this.score = score;
    // A change of the structure is answered without marks. In another layout they stand elsewhere.
    if (score.marks && !this.laid) this.marks.show(score.layers, score.marks);
  }

  /** Returns a function that ends it. */
  listen(): () => void {
    const ours = (scoreId: string): boolean => scoreId === (this.scoreId || this.score?.score_id);
    const news = this.#live;
    const ends = [
      news.on('score.changed', ({ score_id, etag }) => {
        if (ours(score_id) && etag !== this.score?.etag) void this.load();
      }),
      news.on('score.import', (news) => ours(news.score_id) && this.#madeMore(news)),
      news.on('score.marks', (news) => ours(news.score_id) && this.marks.heard(news)),
      news.on('score.layers', ({ score_id }) => ours(score_id) && void this.marks.reload()),
      news.on('score.deleted', ({ score_id }) => {
        if (!ours(score_id)) return;
        this.isGone = true;
        this.#forget();
      }),
      news.on('resync', () => void this.load()),
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
