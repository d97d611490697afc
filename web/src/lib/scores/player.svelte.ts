// Plays engraved music: plans each note on the clock of the sound, and knows which moment of the music is heard.
/* eslint-disable svelte/prefer-svelte-reactivity -- the map of bars is replaced as a whole, never changed in place */
import { SvelteMap } from 'svelte/reactivity';
import { Problem } from '$lib/api/client';
import {
  boundedPercent,
  countBefore,
  cursorOf,
  momentAt,
  momentsOf,
  notesOf,
  spanOf,
  type Bar,
  type Moment,
  type Note,
  type Playback,
} from './playTimes';
import { Synth } from './synth';

const AHEAD_SECONDS = 0.2;
const EVERY_MS = 40;

/** What is played, and the layout in which it is shown, if that is not the score's own. */
type Music = {
  readonly laid: { bars: Bar[]; transpose: number } | undefined;
  readPlayback: () => Promise<Playback>;
};

export class Player {
  playback = $state.raw<Playback>();
  problem = $state.raw<Problem>();
  playing = $state(false);
  /** Of the tempo that is written. */
  percent = $state(100);
  /** From which bar to which it is played again and again. */
  loop = $state.raw<{ from: number; to: number }>();
  moment = $state.raw<Moment>();
  readonly volumes = new SvelteMap<number, number>();

  #notes: Note[] = [];
  #moments: Moment[] = [];
  #synth: Synth | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  // The music at `#startMs` is heard at `#startAt`, on the clock of the sound.
  #startAt = 0;
  #startMs = 0;
  #plannedMs = 0;
  readonly #open: Music;

  readonly #bars = $derived.by(() => {
    const bars = this.#open.laid?.bars ?? this.playback?.bars ?? [];
    return new Map(bars.map((bar) => [bar.bar, bar]));
  });
  readonly cursor = $derived(this.moment && cursorOf(this.#bars, this.moment));

  constructor(open: Music) {
    this.#open = open;
  }

  /** The bars that can be chosen, with the numbers that are printed. */
  get bars(): { bar: number; number: string }[] {
    return [...this.#bars.values()].map(({ bar, number }) => ({ bar, number: number || String(bar + 1) }));
  }

  load = async (): Promise<void> => {
    if (this.playback) return;
    try {
      const playback = await this.#open.readPlayback();
      this.#notes = notesOf(playback);
      this.#moments = momentsOf(playback);
      this.playback = playback;
      this.moment = this.#moments[0];
      this.problem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      this.problem = failure;
    }
  };

  toggle = (): void => {
    if (this.playing) this.stop();
    else this.#start(this.moment?.at ?? 0);
  };

  stop(): void {
    clearInterval(this.#timer);
    this.#synth?.silence();
    this.playing = false;
  }

  toBeginning = (): void => this.#goTo(this.#span[0]);

  goToBar(bar: number): void {
    const moment = this.#moments.find((each) => each.bar === bar);
    if (moment) this.#goTo(moment.at);
  }

  setPercent(percent: number): void {
    const now = this.moment?.at ?? 0;
    this.percent = boundedPercent(percent);
    if (this.playing) this.#start(now);
  }

  setLoop(loop: { from: number; to: number } | undefined): void {
    this.loop = loop;
    this.#goTo(loop ? this.#span[0] : (this.moment?.at ?? 0));
  }

  setVolume(instrument: number, volume: number): void {
    this.volumes.set(instrument, volume);
    this.#synth?.setVolume(instrument, volume);
  }

  /** Silent for good, such as when the page is left. */
  close(): void {
    this.stop();
    this.#synth?.close();
    this.#synth = undefined;
  }

  get #span(): [number, number] {
    const length = this.playback?.length_ms ?? 0;
    const looped = this.loop && spanOf(this.#moments, length, this.loop.from, this.loop.to);
    return looped ?? [0, length];
  }

  #goTo(time: number): void {
    this.moment = momentAt(this.#moments, time);
    if (this.playing) this.#start(time);
  }

  #start(from: number): void {
    this.stop();
    const [first, end] = this.#span;
    this.#synth ??= new Synth();
    this.#synth.begin(this.volumes);
    this.playing = true;
    this.#startMs = this.#plannedMs = from < first || from >= end - 1 ? first : from;
    this.#startAt = this.#synth.now + 0.06;
    this.#timer = setInterval(() => this.#plan(), EVERY_MS);
    this.#plan();
  }

  #plan(): void {
    const synth = this.#synth;
    if (!synth) return;
    const [first, end] = this.#span;
    const until = this.#timeAt(synth.now + AHEAD_SECONDS);
    this.#planTo(synth, Math.min(until, end));
    this.#show(this.#timeAt(synth.now));
    if (until < end) return;
    if (this.loop) {
      this.#startAt += (end - this.#startMs) / this.#pace;
      this.#startMs = this.#plannedMs = first;
    } else if (this.#timeAt(synth.now) >= end) {
      this.stop();
      this.moment = momentAt(this.#moments, first);
    }
  }

  #planTo(synth: Synth, until: number): void {
    const by = this.#open.laid?.transpose ?? 0;
    const notes = this.#notes;
    for (let at = countBefore(notes, this.#plannedMs); at < notes.length; at++) {
      const note = notes[at];
      if (!note || note.at >= until) break;
      const when = this.#startAt + (note.at - this.#startMs) / this.#pace;
      synth.play(note.pitch + by, when, note.length / this.#pace, note.instrument);
    }
    this.#plannedMs = Math.max(this.#plannedMs, until);
  }

  #show(time: number): void {
    // What comes next is planned already, but not heard yet.
    if (time < this.#startMs) return;
    const moment = momentAt(this.#moments, time);
    if (moment && moment !== this.moment) this.moment = moment;
  }

  /** Milliseconds of music in a second. */
  get #pace(): number {
    return (1000 * this.percent) / 100;
  }

  #timeAt(second: number): number {
    return this.#startMs + (second - this.#startAt) * this.#pace;
  }
}
