// The marks on a score: those that the server knows, those that are drawn here and on their way to it, and their history.
/* eslint-disable svelte/prefer-svelte-reactivity -- maps and sets are replaced as a whole, never changed in place */
import { SvelteSet } from 'svelte/reactivity';
import { Problem } from '$lib/api/client';
import { randomKey } from '$lib/api/repeatKeys';
import { t } from '$lib/i18n/index.svelte';
import { outbox } from '$lib/shell/outbox.svelte';
import { toasts } from '$lib/ui/toasts.svelte';
import { emptyHistory, recorded, redo, undo, type History, type Step } from './history';
import { draftsOf, takenUp, type Drawn, type KeptChange } from './keptChange';
import { newMark, type Layer, type Mark, type NewMark } from './marks';
import { createLayer, readLayout, readMarks, writeMarks, type LayoutChoice } from './scoreCalls';

export type { Drawn };
/** `at`: where it is kept on the device. */
type Change = KeptChange & { at: Promise<number | undefined> };
/** How all marks are read, on the pages of a layout or on those of the score. */
type Read = (layout: LayoutChoice | undefined) => Promise<{ layers: Layer[]; marks: Mark[] }>;
type News = { layer_id: number; seq: number; added: Mark[]; removed: number[] };

const RETRY_MS = 2000;
// All that is heard within this time is read at once.
const RELOAD_MS = 500;
const DRAWN = randomKey();
let last = 0;

export class ScoreMarks {
  layers = $state.raw<Layer[]>([]);
  /** How many changes the server does not have yet. */
  waiting = $state(0);
  /** The server cannot be reached: the changes wait here. */
  stuck = $state(false);
  /** Layers that the reader does not want to see now. */
  readonly hidden = new SvelteSet<number>();
  // Layers for other parts, which were hidden once.
  readonly #parted = new Set<number>();
  /** The layer to draw in; undefined for the first of one's own that is seen, which is made when it is needed. */
  chosen = $state<number>();

  #scoreId: string;
  #read: Read;
  #me: string | undefined;
  // On whose pages the marks are; undefined for those of the score itself.
  #layout: LayoutChoice | undefined;
  #stored = $state.raw<ReadonlyMap<number, Drawn>>(new Map());
  #drafts = $state.raw<readonly Drawn[]>([]);
  #gone = $state.raw<ReadonlySet<number>>(new Set());
  #history = $state.raw<History<Drawn>>(emptyHistory());
  #changes: Change[] = [];
  #sending: Promise<void> | undefined;
  // Whether it tries again for as long as it takes.
  #isPatient = true;
  #reload: ReturnType<typeof setTimeout> | undefined;
  // A mark that is drawn again has another id, which is found by the one before.
  #laterIds = new Map<number, number>();
  // What was left of an earlier visit is sent first.
  #takenUp: Promise<void>;

  readonly canUndo = $derived(this.#history.done.length > 0);
  readonly canRedo = $derived(this.#history.undone.length > 0);
  readonly own = $derived(this.layers.filter(({ author_id }) => author_id === this.#me));
  readonly current = $derived(
    this.own.find(({ layer_id }) => layer_id === this.chosen) ??
      this.own.find(({ layer_id }) => !this.hidden.has(layer_id)) ??
      this.own[0],
  );
  #byPage = $derived.by(() => {
    const pages = new Map<number, Drawn[]>();
    const stored = [...this.#stored].flatMap(([id, drawn]) => (this.#gone.has(id) ? [] : [drawn]));
    for (const drawn of [...stored, ...this.#drafts]) {
      if (drawn.layerId !== undefined && this.hidden.has(drawn.layerId)) continue;
      const page = pages.get(drawn.mark.page_id);
      if (page) page.push(drawn);
      else pages.set(drawn.mark.page_id, [drawn]);
    }
    return pages;
  });

  constructor(
    scoreId: string,
    me: string | undefined,
    read: Read = (layout) => (layout ? readLayout(scoreId, layout) : readMarks(scoreId)),
  ) {
    this.#scoreId = scoreId;
    this.#read = read;
    this.#me = me;
    this.#takenUp = me === undefined ? Promise.resolve() : this.#takeUp(me);
  }

  /** What was left on this device when a page was closed. */
  async #takeUp(me: string): Promise<void> {
    const claimed = await outbox.claim<KeptChange>(me, this.#scoreId);
    if (!claimed.length) return;
    const changes = takenUp(claimed.map(({ change }) => change));
    const drafts = draftsOf(changes);
    this.#drafts = [...drafts, ...this.#drafts];
    this.#gone = new Set([
      ...this.#gone,
      ...changes.flatMap(({ removed }) => removed.flatMap(({ id }) => id ?? [])),
    ]);
    const before = changes.map((change, place) => ({ ...change, at: Promise.resolve(claimed[place]?.at) }));
    this.#changes = [...before, ...this.#changes];
    this.waiting = this.#changes.length;
    this.stuck = true;
    void this.#send();
  }

  /** Until all is sent that can be sent now. What cannot is left for later. */
  async settled(): Promise<void> {
    this.#isPatient = false;
    await this.#takenUp;
    await this.#sending;
  }

  /** What is to be drawn on a page, the oldest first. */
  on(pageId: number): readonly Drawn[] {
    return this.#byPage.get(pageId) ?? [];
  }

  isMine({ layerId }: Drawn): boolean {
    return layerId === undefined || this.own.some(({ layer_id }) => layer_id === layerId);
  }

  show(layers: Layer[], marks: readonly Mark[]): void {
    this.layers = layers;
    this.#stored = new Map(marks.map((mark) => [mark.mark_id, drawnOf(mark)]));
    this.#gone = new Set([...this.#gone].filter((id) => this.#stored.has(id)));
  }

  /** What was done on the pages of another layout cannot be taken back here. */
  moveTo(layout: LayoutChoice | undefined): void {
    this.#layout = layout;
    this.#history = emptyHistory();
  }

  reload = async (): Promise<void> => {
    const layout = this.#layout;
    const { layers, marks } = await this.#read(layout);
    if (layout === this.#layout) this.show(layers, marks);
  };

  /** Somebody has changed a layer, perhaps on this page. */
  heard({ layer_id, seq, added, removed }: News): void {
    const layer = this.layers.find((each) => each.layer_id === layer_id);
    // Something was missed, or a layer that was private is so no more.
    if (!layer || seq > layer.seq + 1) return this.#reloadSoon();
    // Only the server knows where marks are in another layout.
    if (this.#layout) {
      if (seq > layer.seq) this.#reloadSoon();
      return;
    }
    this.#apply(layer, seq, added, removed);
  }

  /** If the server refuses, what is heard next asks again. */
  #reloadSoon(): void {
    this.#reload ??= setTimeout(() => {
      this.#reload = undefined;
      void this.reload().catch(() => undefined);
    }, RELOAD_MS);
  }

  draw(mark: NewMark): void {
    this.#make({
      added: [{ key: `${DRAWN}-${++last}`, mark, layerId: this.current?.layer_id, id: undefined }],
      removed: [],
    });
  }

  erase(drawn: readonly Drawn[]): void {
    if (drawn.length) this.#make({ added: [], removed: drawn });
  }

  undo = (): void => this.#step(undo(this.#history));
  redo = (): void => this.#step(redo(this.#history));

  #make(step: Step<Drawn>): void {
    this.#history = recorded(this.#history, step);
    this.#carryOut(step);
  }

  #step(outcome: [History<Drawn>, Step<Drawn>] | undefined): void {
    if (!outcome) return;
    this.#history = outcome[0];
    this.#carryOut(outcome[1]);
  }

  /** Shown at once; the server gets it in the order in which it was done. */
  #carryOut({ added, removed }: Step<Drawn>): void {
    const taken = new Set(removed);
    this.#drafts = [...this.#drafts.filter((draft) => !taken.has(draft)), ...added];
    this.#gone = new Set([...this.#gone, ...removed.flatMap((drawn) => this.#idOf(drawn) ?? [])]);
    const change = { key: randomKey(), added, removed, layout: this.#layout };
    const at = this.#me === undefined ? undefined : outbox.keep(this.#me, this.#scoreId, plain(change));
    this.#changes.push({ ...change, at: Promise.resolve(at) });
    this.waiting = this.#changes.length;
    void this.#send();
  }

  #send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    await this.#takenUp;
    for (let change = this.#changes[0]; change; change = this.#changes[0]) {
      try {
        await this.#store(change);
        this.stuck = false;
      } catch (failure) {
        if (!(failure instanceof Problem)) throw failure;
        if (isPassing(failure)) {
          this.stuck = true;
          // Whoever has to sign in first sends it after that.
          if (!this.#isPatient || failure.status === 401) return this.#leave();
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
          continue;
        }
        const kept = new Set(change.removed.map((drawn) => this.#idOf(drawn)));
        this.#gone = new Set([...this.#gone].filter((id) => !kept.has(id)));
        toasts.bad(failure.sentence);
        await this.reload().catch(() => undefined);
      }
      // By now they are stored, or never will be.
      this.#drafts = this.#drafts.filter((draft) => !change?.added.includes(draft));
      this.#changes.shift();
      this.waiting = this.#changes.length;
      await this.#forget(change);
    }
    this.stuck = false;
  }

  /** What comes later may take away what was drawn by it: that is known by its id from now on. */
  async #forget({ at, added }: Change): Promise<void> {
    const place = await at;
    const me = this.#me;
    if (place === undefined || me === undefined) return;
    for (const later of this.#changes) {
      const where = await later.at;
      if (where !== undefined && later.removed.some((drawn) => added.includes(drawn)))
        await outbox.amend(where, me, this.#scoreId, plain(later));
    }
    await outbox.drop(place, me);
  }

  async #leave(): Promise<void> {
    const places = await Promise.all(this.#changes.map(({ at }) => at));
    this.#changes = [];
    await outbox.release(places.flatMap((place) => place ?? []));
  }

  async #store({ key, added, removed, layout }: Change): Promise<void> {
    // Those of an earlier visit may be sent before the score is read.
    if (!this.layers.length) await this.reload();
    const home = added.some(({ layerId }) => layerId === undefined) ? await this.#homeLayer(key) : undefined;
    for (const drawn of added) drawn.layerId ??= home?.layer_id;
    for (const layerId of new Set([...added, ...removed].map((drawn) => drawn.layerId))) {
      if (layerId === undefined) continue;
      const add = added.filter((drawn) => drawn.layerId === layerId);
      const remove = removed
        .filter((drawn) => drawn.layerId === layerId)
        .flatMap((drawn) => this.#idOf(drawn) ?? []);
      const body = { add: add.map(({ mark }) => mark), remove, ...(layout && { layout }) };
      const answer = await writeMarks(this.#scoreId, layerId, body, `${key}-${layerId}`);
      add.forEach((drawn, at) => this.#nameAgain(drawn, answer.added[at]));
      this.#confirm(layerId, answer.seq, add, remove);
    }
  }

  #idOf({ id }: Drawn): number | undefined {
    let now = id;
    for (let later = now; later !== undefined; later = this.#laterIds.get(later)) now = later;
    return now;
  }

  #nameAgain(drawn: Drawn, id: number | undefined): void {
    const before = this.#idOf(drawn);
    if (before !== undefined && id !== undefined && before !== id) this.#laterIds.set(before, id);
    drawn.id = id;
  }

  /** The event of it may have come before the answer; then what was done since must not be undone by it. */
  #confirm(layerId: number, seq: number, added: readonly Drawn[], removed: readonly number[]): void {
    const layer = this.layers.find(({ layer_id }) => layer_id === layerId);
    const marks = added.flatMap(({ id, mark }) =>
      id === undefined ? [] : [{ ...mark, mark_id: id, layer_id: layerId, seq } as Mark],
    );
    if (layer && layer.seq < seq) this.#apply(layer, seq, marks, removed);
    this.#drafts = this.#drafts.filter((draft) => !added.includes(draft));
  }

  #apply(layer: Layer, seq: number, added: readonly Mark[], removed: readonly number[]): void {
    const stored = new Map(this.#stored);
    for (const mark of added) stored.set(mark.mark_id, drawnOf(mark));
    for (const id of removed) stored.delete(id);
    this.#stored = stored;
    this.layers = this.layers.map((each) =>
      each === layer ? { ...each, seq: Math.max(seq, each.seq) } : each,
    );
  }

  /** One of one's own, in which is drawn from now on. */
  async addLayer(layer: { name: string; part_id?: number }, key: string): Promise<Layer> {
    const made = await createLayer(this.#scoreId, layer, key);
    if (!this.layers.some(({ layer_id }) => layer_id === made.layer_id)) this.layers = [...this.layers, made];
    this.chosen = made.layer_id;
    return made;
  }

  /** Whoever plays one part sees the layers for others when they want to. */
  hideOtherParts(partId: number): void {
    for (const { layer_id, part_id } of this.layers)
      if (part_id !== null && part_id !== partId && !this.#parted.has(layer_id)) {
        this.#parted.add(layer_id);
        this.hidden.add(layer_id);
      }
  }

  /** The layer of one's own; the first mark makes it. */
  async #homeLayer(key: string): Promise<Layer> {
    if (this.current) return this.current;
    return this.addLayer({ name: t('scores.layer.mine') }, key);
  }
}

/** The network or the server may be back later; and so may whoever was signed out. */
function isPassing({ status }: Problem): boolean {
  return status === 0 || status === 401 || status === 429 || status >= 500;
}

/** As a device can keep it. */
function plain({ key, added, removed, layout }: KeptChange): KeptChange {
  return JSON.parse(JSON.stringify({ key, added, removed, layout })) as KeptChange;
}

function drawnOf(mark: Mark): Drawn {
  return { key: `m${mark.mark_id}`, mark: newMark(mark), layerId: mark.layer_id, id: mark.mark_id };
}
