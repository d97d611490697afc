// What becomes of every file that was picked: hashed, skipped if the library has it, and uploaded otherwise.
import { SvelteMap } from 'svelte/reactivity';
import { Problem } from '$lib/api/problems';
import { beside, digest } from '$lib/files/digest';
import type { Picked } from '$lib/files/pickedFiles';
import { queue } from '$lib/uploads/queue.svelte';
import type { Whereto } from '$lib/uploads/resumeStore';
import type { Upload } from '$lib/uploads/upload.svelte';
import { pinPhoto } from './albumCalls';
import { askKnown } from './photoCalls';
import { sortPicked } from './photoSidecars';

export const FATES = ['waiting', 'sending', 'stored', 'known', 'sidecar', 'other', 'failed'] as const;
export type Fate = (typeof FATES)[number];

/** `asked` are files whose digests may be known; others are uploaded unasked. */
export type Target = { whereto: Whereto; asked: boolean; albumId?: string | undefined };

// The first uploads begin while the rest is still read.
const ASKED_AT_ONCE = 40;
const ASKED_AT_BYTES = 64 * 2 ** 20;
// Whether a file is known needs its digest alone.
const NO_CHALLENGE = '';

class Arrival {
  readonly picked: Picked;
  readonly name: string;
  upload = $state.raw<Upload>();
  #fate = $state<Fate>('waiting');

  constructor(picked: Picked, fate: Fate) {
    this.picked = picked;
    this.name = picked.path || picked.file.name;
    this.#fate = fate;
  }

  get fate(): Fate {
    if (!this.upload) return this.#fate;
    const { state } = this.upload;
    return state === 'done' ? 'stored' : state === 'failed' ? 'failed' : 'sending';
  }

  set fate(fate: Fate) {
    this.#fate = fate;
  }
}

type Digested = { arrival: Arrival; sha256: string };

export class PhotoArrivals {
  all = $state.raw<readonly Arrival[]>([]);
  /** Files are being read, in order to find out whether they are known. */
  reading = $state(false);
  problem = $state.raw<Problem>();
  #stop = new AbortController();

  readonly counts = $derived.by(() => {
    const counts = new SvelteMap<Fate, number>();
    for (const { fate } of this.all) counts.set(fate, (counts.get(fate) ?? 0) + 1);
    return counts;
  });

  /** Everything that was picked has a fate. */
  async take(picked: readonly Picked[], target: Target): Promise<void> {
    const { medias, sidecars, others } = await sortPicked(picked);
    const arrivals = medias.map((each) => new Arrival(each, 'waiting'));
    const beside = [
      ...sidecars.map((each) => new Arrival(each, 'sidecar')),
      ...others.map((each) => new Arrival(each, 'other')),
    ];
    const before = this.#isOver ? [] : this.all;
    this.all = [...before, ...arrivals, ...beside];
    if (!target.asked) return this.#send(arrivals, target);
    await this.#ask(arrivals, target);
  }

  /** Those that were not read yet are left alone. */
  stop(): void {
    this.#stop.abort();
  }

  clear(): void {
    this.stop();
    this.all = [];
    this.problem = undefined;
  }

  get #isOver(): boolean {
    return !this.all.some(({ fate }) => fate === 'waiting' || fate === 'sending');
  }

  async #ask(arrivals: readonly Arrival[], target: Target): Promise<void> {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.reading = true;
    this.problem = undefined;
    try {
      await beside(async (worker) => {
        let [some, bytes]: [Digested[], number] = [[], 0];
        for (const [at, arrival] of arrivals.entries()) {
          const { file } = arrival.picked;
          const read = await digest(worker, { file, challenge: NO_CHALLENGE }, () => undefined, signal).catch(
            unlessStopped(signal),
          );
          // It has gone, or may not be read: trying to upload it says so.
          if (read) some.push({ arrival, sha256: read.sha256 });
          else this.#send([arrival], target);
          bytes += file.size;
          const isFull = some.length >= ASKED_AT_ONCE || bytes >= ASKED_AT_BYTES;
          if (!isFull && at < arrivals.length - 1) continue;
          await this.#decide(some, target);
          [some, bytes] = [[], 0];
        }
      });
    } catch (failure) {
      if (failure instanceof Problem) this.problem = failure;
      else if (!signal.aborted) throw failure;
      this.all = this.all.filter(({ fate }) => fate !== 'waiting');
    } finally {
      this.reading = false;
    }
  }

  async #decide(digested: readonly Digested[], target: Target): Promise<void> {
    const known = await askKnown(
      digested.map(({ arrival, sha256 }) => ({ sha256, size_bytes: arrival.picked.file.size })),
    );
    const missing: Arrival[] = [];
    for (const [at, { arrival }] of digested.entries()) {
      const { state, id } = known[at] ?? { state: 'unknown', id: null };
      if (state !== 'stored') missing.push(arrival);
      else {
        if (target.albumId && id) await pinPhoto(target.albumId, id);
        arrival.fate = 'known';
      }
    }
    this.#send(missing, target);
  }

  #send(arrivals: readonly Arrival[], { whereto }: Target): void {
    const uploads = queue.add(
      arrivals.map(({ picked }) => picked),
      whereto,
    );
    const byFile = new SvelteMap(uploads.map((upload) => [upload.file, upload]));
    for (const arrival of arrivals) {
      const upload = byFile.get(arrival.picked.file);
      // The same file once more.
      if (upload) arrival.upload = upload;
      else arrival.fate = 'known';
    }
  }
}

function unlessStopped(signal: AbortSignal): () => undefined {
  return () => {
    signal.throwIfAborted();
    return undefined;
  };
}
