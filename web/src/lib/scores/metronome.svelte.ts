// A metronome that is heard and seen. It plans each beat on the clock of the sound, which no busy page delays.
import { beatsBetween, boundedTempo, tapped } from './tempo';

const AHEAD_SECONDS = 0.2;
const EVERY_MS = 50;
const CLICK_SECONDS = 0.05;

export class Metronome {
  tempo = $state(100);
  beats = $state(4);
  running = $state(false);
  /** Which beat of the bar is now; undefined while it is silent. */
  inBar = $state<number>();
  #sound: AudioContext | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #start = 0;
  #planned = 0;
  #taps: number[] = [];

  toggle = (): void => {
    if (this.running) this.stop();
    else this.start();
  };

  start(): void {
    this.stop();
    this.#sound ??= new AudioContext();
    void this.#sound.resume();
    this.running = true;
    this.#start = this.#planned = this.#sound.currentTime + 0.05;
    this.#timer = setInterval(() => this.#plan(), EVERY_MS);
    this.#plan();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.running = false;
    this.inBar = undefined;
  }

  /** Silent for good, such as when the page is left. */
  close(): void {
    this.stop();
    void this.#sound?.close();
    this.#sound = undefined;
  }

  setTempo(tempo: number): void {
    this.tempo = boundedTempo(tempo);
    if (this.running) this.start();
  }

  setBeats(beats: number): void {
    this.beats = Math.min(12, Math.max(1, beats));
    if (this.running) this.start();
  }

  tap = (): void => {
    const { taps, tempo } = tapped(this.#taps, performance.now() / 1000);
    this.#taps = taps;
    if (tempo !== undefined) this.setTempo(tempo);
  };

  #plan(): void {
    const sound = this.#sound;
    if (!sound) return;
    const until = sound.currentTime + AHEAD_SECONDS;
    for (const { at, inBar } of beatsBetween({ ...this.#pace(), start: this.#start }, this.#planned, until)) {
      click(sound, at, inBar === 0);
      const shown = Math.max(0, (at - sound.currentTime) * 1000);
      setTimeout(() => this.running && (this.inBar = inBar), shown);
    }
    this.#planned = Math.max(this.#planned, until);
  }

  #pace(): { tempo: number; beats: number } {
    return { tempo: this.tempo, beats: this.beats };
  }
}

function click(sound: AudioContext, at: number, stressed: boolean): void {
  const tone = new OscillatorNode(sound, { frequency: stressed ? 1568 : 1046.5 });
  const volume = new GainNode(sound, { gain: 0 });
  volume.gain.setValueAtTime(stressed ? 0.6 : 0.35, at);
  volume.gain.exponentialRampToValueAtTime(0.001, at + CLICK_SECONDS);
  tone.connect(volume).connect(sound.destination);
  tone.start(at);
  tone.stop(at + CLICK_SECONDS);
}
