// A small instrument of the browser's own: soft tones, a volume for each part, and nothing to download.
const ATTACK = 0.012;
const RELEASE = 0.09;
const LOUDNESS = 0.22;
const SHORTEST = 0.06;
const WAVES = ['triangle', 'sine'] as const;

export class Synth {
  #sound = new AudioContext();
  #master: GainNode | undefined;
  #parts = new Map<number, GainNode>();

  get now(): number {
    return this.#sound.currentTime;
  }

  begin(volumes: ReadonlyMap<number, number>): void {
    void this.#sound.resume();
    // Many notes at once must not distort.
    const together = new DynamicsCompressorNode(this.#sound);
    this.#master = new GainNode(this.#sound, { gain: LOUDNESS });
    this.#master.connect(together).connect(this.#sound.destination);
    this.#parts = new Map();
    for (const [part, volume] of volumes) this.#partOf(part).gain.value = volume;
  }

  play(pitch: number, at: number, seconds: number, part: number): void {
    const when = Math.max(at, this.now);
    const end = when + Math.max(seconds, SHORTEST);
    const frequency = 440 * 2 ** ((pitch - 69) / 12);
    const tone = new OscillatorNode(this.#sound, {
      type: WAVES[part % WAVES.length] ?? 'triangle',
      frequency,
    });
    const shape = new GainNode(this.#sound, { gain: 0 });
    shape.gain.setValueAtTime(0, when);
    shape.gain.linearRampToValueAtTime(1, when + ATTACK);
    shape.gain.exponentialRampToValueAtTime(0.45, Math.max(end, when + 2 * ATTACK));
    shape.gain.exponentialRampToValueAtTime(0.001, end + RELEASE);
    tone.connect(shape).connect(this.#partOf(part));
    tone.start(when);
    tone.stop(end + RELEASE);
  }

  setVolume(part: number, volume: number): void {
    if (this.#master) this.#partOf(part).gain.setTargetAtTime(volume, this.now, 0.02);
  }

  /** At once, also what is planned. */
  silence(): void {
    this.#master?.disconnect();
    this.#master = undefined;
  }

  close(): void {
    void this.#sound.close();
  }

  #partOf(part: number): GainNode {
    const known = this.#parts.get(part);
    if (known) return known;
    const made = new GainNode(this.#sound);
    if (this.#master) made.connect(this.#master);
    this.#parts.set(part, made);
    return made;
  }
}
