// The queue of all uploads: it continues while people move between pages, and retries by itself.
import type { Picked } from '$lib/files/pickedFiles';
import { t } from '$lib/i18n/index.svelte';
import { firstLot, fitsBundle, sendBundle } from './bundleUpload';
import { failureFrom } from './failure';
import { freePlaces, isOver, isUnderWay, toBegin, type Happening } from './lifecycle';
import { sendFile } from './partsUpload';
import { fingerprintOf, placeOf, ResumeStore, type BrowserStorage, type Whereto } from './resumeStore';
import { CHUNK_BYTES, delay, judge, mayPass } from './retryPolicy';
import { secondsLeft } from './speed';
import { unlessElsewhere, untilFree } from './tabLock';
import { giveUp, standingOf } from './tusUpload';
import { Upload } from './upload.svelte';

const AT_ONCE = 3;
const LOOK_EVERY_SECONDS = 5;
// A slow line may take that long for the next bytes that the server counts.
const ABANDONED_AFTER_LOOKS = 6;

type Arrival = { destination: string; callback: (became: string) => void };
type Way = { chunk: number; overriding: boolean };

class Queue {
  uploads = $state.raw<Upload[]>([]);
  /** What a screen reader says: beginnings and endings, not every step. */
  news = $state('');
  now = $state(Date.now());
  readonly memory = new ResumeStore(browserStorage());

  #owner: string | undefined;
  /** What was learned about the way to the server; it holds for all. */
  #way: Way = { chunk: 0, overriding: false };
  #arrivals: Arrival[] = [];

  readonly underWay = $derived(this.uploads.some(({ state }) => isUnderWay(state)));
  readonly left = $derived(this.uploads.filter(({ state }) => !isOver(state)));
  readonly failed = $derived(this.uploads.filter(({ state }) => state === 'failed'));
  readonly done = $derived(this.uploads.filter(({ state }) => state === 'done'));
  readonly share = $derived(shareOf(this.uploads));
  readonly rate = $derived(this.uploads.reduce((sum, { rate }) => sum + (rate ?? 0), 0));
  readonly secondsLeft = $derived(
    secondsLeft(
      this.left.reduce((sum, { size, sent }) => sum + size - sent, 0),
      this.rate,
    ),
  );

  /**
   * Send these, which are given back as uploads; a file that is in the line already, but does not move, goes on with what
   * was chosen now.
   */
  add(picked: readonly Picked[], whereto: Whereto): Upload[] {
    const owner = this.#owner;
    if (owner === undefined || !picked.length) return [];
    // What is done stays in sight until the next comes, what failed until somebody has seen to it.
    const before = this.left.length ? this.uploads : this.failed;
    const known = new Map(
      before.filter(({ state }) => state !== 'done').map((each) => [each.fingerprint, each]),
    );
    const wanted = new Map(picked.map((each) => [fingerprintOf(owner, placeOf(whereto), each), each]));
    const uploads = [...wanted].map(([fingerprint, each]) => {
      const upload = known.get(fingerprint);
      if (!upload) return new Upload(each, whereto, fingerprint);
      upload.file = each.file;
      interrupt(upload, 'resume');
      return upload;
    });
    this.uploads = [...before, ...uploads.filter(({ fingerprint }) => !known.has(fingerprint))];
    this.news = t('uploads.news.added', { count: wanted.size });
    this.#pump();
    return uploads;
  }

  pause(uploads: readonly Upload[]): void {
    for (const upload of uploads) interrupt(upload, 'pause');
    this.#pump();
  }

  resume(uploads: readonly Upload[]): void {
    for (const upload of uploads) interrupt(upload, 'resume');
    this.#pump();
  }

  cancel(uploads: readonly Upload[]): void {
    for (const upload of uploads) {
      upload.halt();
      this.memory.forget(upload.fingerprint);
      // What stays there by mischance expires by itself.
      if (upload.uploadId) giveUp(upload.uploadId).catch(() => undefined);
    }
    const gone = new Set(uploads);
    this.uploads = this.uploads.filter((upload) => !gone.has(upload));
    this.news = t('uploads.news.cancelled', { count: uploads.length });
    this.#pump();
  }

  /** Take away what needs no attention any more. */
  clear(): void {
    this.uploads = this.left;
  }

  /** Who is signed in: the same person's uploads continue; another person's are dropped. */
  belongTo(owner: string | undefined): void {
    if (owner === undefined) {
      for (const upload of this.uploads) interrupt(upload, 'signOut', t('uploads.problem.signedOut'));
      return;
    }
    if (this.#owner !== owner) {
      for (const upload of this.uploads) upload.halt();
      this.uploads = [];
      this.#owner = owner;
    }
    for (const upload of this.uploads) upload.move('signIn');
    this.#pump();
  }

  offline(): void {
    for (const upload of this.uploads) {
      if (upload.state !== 'sending') continue;
      upload.halt();
      this.#retryLater(upload, delay({ kind: 'silence', sending: false }, 3), t('uploads.problem.offline'));
    }
  }

  online(): void {
    this.resume(this.uploads.filter(({ state }) => state === 'retrying'));
  }

  /** Once a second while something moves: speeds fall, countdowns count. */
  tick(): void {
    this.now = Date.now();
    for (const upload of this.uploads) upload.tick();
  }

  /** Call back with the id of what an upload to this place became. */
  onArrival(destination: string, callback: Arrival['callback']): () => void {
    const arrival = { destination, callback };
    this.#arrivals.push(arrival);
    return () => (this.#arrivals = this.#arrivals.filter((each) => each !== arrival));
  }

  #move(upload: Upload, happening: Happening, sentence = ''): void {
    upload.move(happening, sentence);
    this.#pump();
  }

  #pump(): void {
    const together = (waiting: readonly Upload[]): Upload[] => this.#lotOf(waiting);
    for (const lot of toBegin(this.uploads, freePlaces(this.uploads, AT_ONCE), together)) {
      const [first] = lot;
      if (lot.length > 1) void this.#attemptTogether(lot);
      else if (first) void this.#attempt(first);
    }
  }

  /** The first alone, or with the small ones that wait behind it. */
  #lotOf(waiting: readonly Upload[]): Upload[] {
    const isSmall = (upload: Upload): boolean =>
      !upload.alone && !upload.uploadId && fitsBundle(upload) && !this.memory.find(upload.fingerprint);
    const [first] = waiting;
    if (!first) return [];
    return isSmall(first) ? firstLot(waiting.filter(isSmall)) : [first];
  }

  async #attemptTogether(lot: readonly Upload[]): Promise<void> {
    const [stop, over] = [new AbortController(), new AbortController()];
    for (const upload of lot) {
      upload.lot = lot;
      const signal = upload.begin();
      // One that is stopped stops the bundle; the others begin again, with their keys, so that none is kept twice.
      const stopped = (): void => {
        stop.abort();
        over.abort();
        queueMicrotask(() => this.#disband(lot));
      };
      signal.addEventListener('abort', stopped, { signal: over.signal });
    }
    try {
      const outcomes = await sendBundle(lot, (bytes) => spread(lot, bytes), stop.signal);
      over.abort();
      lot.forEach((upload, index) => this.#settle(upload, outcomes[index]));
    } catch (thrown) {
      over.abort();
      if (stop.signal.aborted) return;
      const { trouble } = failureFrom(thrown) ?? {};
      for (const upload of lot) {
        if (trouble && mayPass(trouble)) this.#settle(upload, thrown);
        else this.#goAlone(upload);
      }
    }
  }

  #settle(upload: Upload, outcome: unknown): void {
    upload.lot = undefined;
    if (typeof outcome === 'string') return this.#arrived(upload, outcome);
    upload.alone = upload.fruitless > 0;
    this.#brokeOff(upload, { ...this.#way }, outcome, new AbortController().signal);
  }

  /** Something refuses bundles, or one of the files spoils it: what is wrong shows when each goes by itself. */
  #goAlone(upload: Upload): void {
    upload.lot = undefined;
    upload.alone = true;
    this.#move(upload, 'again');
  }

  #disband(lot: readonly Upload[]): void {
    for (const upload of lot) {
      upload.lot = undefined;
      if (upload.state === 'sending') upload.move('again');
    }
    this.#pump();
  }

  async #attempt(upload: Upload): Promise<void> {
    const signal = upload.begin();
    const way = { ...this.#way };
    // Before asking for the lock: the tab that holds it forgets the upload when it ends, and we need the id to see that.
    upload.uploadId ??= this.memory.find(upload.fingerprint)?.uploadId;
    try {
      const sent = await unlessElsewhere(upload.fingerprint, () => this.#send(upload, way, signal));
      if (!sent) {
        this.#move(upload, 'yield', t('uploads.problem.otherTab'));
        await untilFree(upload.fingerprint, signal);
        this.#move(upload, 'again');
      }
    } catch (thrown) {
      if (!signal.aborted) this.#brokeOff(upload, way, thrown, signal);
    }
  }

  async #send(upload: Upload, way: Way, signal: AbortSignal): Promise<void> {
    const { key, file, path, whereto, details, uploadId } = upload;
    let isFirst = true;
    const listener = {
      begun: (id: string) => this.#begun(upload, id),
      stored: (bytes: number) => upload.stored(bytes),
      progress: (bytes: number) => {
        // The first call tells where the upload resumes: so much is stored.
        if (isFirst) upload.stored(bytes);
        isFirst = false;
        upload.progress(bytes);
      },
    };
    const chunkBytes = CHUNK_BYTES[way.chunk] ?? CHUNK_BYTES[0];
    await sendFile(
      { key, file, path, whereto, details, uploadId, chunkBytes, overriding: way.overriding },
      listener,
      signal,
    );
    const { became } = await standingOf(upload.uploadId ?? '', signal);
    this.#arrived(upload, became);
  }

  #begun(upload: Upload, uploadId: string): void {
    upload.uploadId = uploadId;
    const { fingerprint, name, size } = upload;
    const since = new Date().toISOString();
    this.memory.keep({
      fingerprint,
      owner: this.#owner ?? '',
      place: placeOf(upload.whereto),
      uploadId,
      name,
      sizeBytes: size,
      since,
    });
  }

  #arrived(upload: Upload, became: string | undefined): void {
    this.memory.forget(upload.fingerprint);
    upload.became = became;
    // Somebody changed what it was to replace: the server keeps both.
    const beside = became !== undefined && upload.replaces !== undefined && became !== upload.replaces;
    upload.move('arrive', beside ? t('uploads.keptBoth', { name: upload.name }) : '');
    for (const { destination, callback } of this.#arrivals) {
      if (became && destination === upload.whereto.destination) callback(became);
    }
    if (!this.left.length) this.news = t('uploads.news.done', { count: this.done.length });
    this.#pump();
  }

  #brokeOff(upload: Upload, way: Way, thrown: unknown, signal: AbortSignal): void {
    const failure = failureFrom(thrown);
    if (!failure) {
      this.#fail(upload, t('problem.internal'));
      throw thrown;
    }
    const { trouble, sentence } = failure;
    const smallestChunks = way.chunk === CHUNK_BYTES.length - 1;
    const { fruitless } = upload;
    const begun = upload.uploadId !== undefined;
    switch (judge(trouble, { begun, smallestChunks, overriding: way.overriding, fruitless })) {
      case 'retry':
        return this.#retryLater(upload, delay(trouble, upload.fruitless++), sentence);
      case 'smaller':
        this.#way.chunk = Math.max(this.#way.chunk, way.chunk + 1);
        upload.fruitless = 0;
        return this.#move(upload, 'again');
      case 'override':
        this.#way.overriding = true;
        return this.#move(upload, 'again');
      case 'anew':
        this.memory.forget(upload.fingerprint);
        upload.startAnew();
        return this.#retryLater(upload, delay(trouble, upload.fruitless++), sentence);
      case 'signIn':
        return this.belongTo(undefined);
      case 'elsewhere':
        void this.#follow(upload, signal);
        return;
      case 'fail':
        return this.#fail(upload, sentence);
    }
  }

  #fail(upload: Upload, sentence: string): void {
    this.news = t('uploads.news.failed', { name: upload.name, sentence });
    this.#move(upload, 'fail', sentence);
  }

  #retryLater(upload: Upload, seconds: number, sentence: string): void {
    upload.move('falter', sentence);
    upload.wait(seconds, () => this.#move(upload, 'again'));
  }

  /** Another client has taken over this upload: watch how it ends, and resume it if they abandon it. */
  async #follow(upload: Upload, signal: AbortSignal): Promise<void> {
    this.#move(upload, 'yield', t('uploads.problem.elsewhere'));
    let [before, looks] = [-1, 0];
    while (looks < ABANDONED_AFTER_LOOKS) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_SECONDS * 1000));
      if (signal.aborted || upload.state !== 'elsewhere') return;
      const standing = await standingOf(upload.uploadId ?? '').catch(() => undefined);
      if (standing?.became) return this.#arrived(upload, standing.became);
      looks = standing && standing.storedBytes !== before ? 0 : looks + 1;
      before = standing?.storedBytes ?? before;
    }
    this.#move(upload, 'again');
  }
}

/** Move it on by somebody's will, and stop what it was doing until then. */
function interrupt(upload: Upload, happening: 'pause' | 'resume' | 'signOut', sentence = ''): void {
  if (upload.move(happening, sentence)) upload.halt();
}

/** Says how far each of a bundle is, whose bytes go one after the other. */
function spread(lot: readonly Upload[], bytes: number): void {
  let left = Math.max(0, bytes);
  for (const upload of lot) {
    const sent = Math.min(left, upload.size);
    if (sent) upload.progress(sent);
    left -= sent;
  }
}

function shareOf(uploads: readonly Upload[]): number {
  let [sent, size] = [0, 0];
  for (const upload of uploads) {
    // A file without bytes counts as something, or a queue of such files would never get anywhere.
    sent += upload.sent + (upload.state === 'done' ? 1 : 0);
    size += upload.size + 1;
  }
  return size ? sent / size : 0;
}

/** Where what outlives the page is kept, unless storage is switched off. */
export function browserStorage(): BrowserStorage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

export const queue = new Queue();
