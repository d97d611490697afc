// The messages between a page and the worker of one transfer.
import type { EventOf } from '$lib/live/frames';
import type { KeyMaterial, Sum } from '../crypto/keys';

export type RequestView = EventOf<'drop.request'>['request'];

/** The live events that concern transfers. Every transfer may be told all of them, and picks out its own. */
export type TransferEvent =
  | EventOf<'drop.request' | 'drop.declined' | 'drop.progress' | 'drop.done' | 'drop.ended'>
  /** After `hello` and `resync`: all requests of the session as it was read again. */
  | { type: 'requests'; requests: readonly RequestView[] };

/** Who we are in which session, and what its members know. */
export type Access = { memberId: string; token: string; keys: KeyMaterial };

/**
 * - `queued`: others come first
 * - `asking`: the owner has not answered yet (or, for the owner: is being answered)
 * - `flowing`: bytes come and go
 * - `broken`: the line is lost; the receiver asks again by itself
 * - `saving`: everything is here and being put in its place
 * - `done`: arrived whole, confirmed by the receiver
 * - `ended`: somebody cancelled or withdrew; `reason` of the owner's no, if it was one
 * - `failed`: cannot be resumed; `failure` says why
 */
export type Stage = 'queued' | 'asking' | 'flowing' | 'broken' | 'saving' | 'done' | 'ended' | 'failed';

/** An answer that was no success, as `problemFrom` takes it apart. */
export type Refusal = { status: number; contentType: string | null; body: unknown };

export type Failure =
  /** The server said no. */
  | { kind: 'refused'; refusal: Refusal }
  /** Somebody in between changed what was sent. */
  | { kind: 'tampered' }
  /** The receiver found that somebody in between changed what we sent. */
  | { kind: 'complained' }
  /** The owner sends something else than what was announced. */
  | { kind: 'differs' }
  /** The file on this device is no longer what was announced, or cannot be read any more. */
  | { kind: 'changed' }
  /** It could not be written, or there is nowhere to write so much. */
  | { kind: 'unsaved' };

/** Something that could not keep its name here. */
export type Renamed = { called: string; name: string };

export type Status = {
  stage: Stage;
  /** Of the content, how much the receiver has written; both sides say the same. */
  bytes: number;
  /** Of the content as it travels; null while nobody knows. */
  length: number | null;
  reason?: 'declined' | 'changed' | 'gone' | 'cancelled';
  failure?: Failure;
  /** What was written, counted where it was written, when it is done. */
  written?: Sum;
  /** What is called otherwise where it was written, when it is done. */
  renamed?: readonly Renamed[];
  /** The text that was handed over, when it is done and was one. */
  text?: string;
};

/** What the worker of a sender is started with. */
export type SendTask = {
  kind: 'send';
  access: Access;
  request: RequestView;
  content: Blob;
  announced: Sum;
  /** The chain's value after each chunk that was read before, 32 bytes each. */
  known: Uint8Array<ArrayBuffer>;
  /** How many segments may be under way at once. */
  inFlight: number;
};

/** Where what arrives is put. */
export type Place =
  | { kind: 'picked'; handle: FileSystemFileHandle }
  | { kind: 'private' }
  | { kind: 'download'; port: MessagePort }
  | { kind: 'memory' };

export type ReceiveTask = {
  kind: 'receive';
  access: Access;
  fileId: string;
  ownerId: string;
  description: Announced;
  place: Place;
};

/** What was announced of a file. */
export type Announced = {
  kind: 'file' | 'folder' | 'text';
  name: string;
  size: number | null;
  files: number;
  modified: string | null;
  type: string;
};

export type ToWorker = SendTask | ReceiveTask | { kind: 'heard'; event: TransferEvent } | { kind: 'stop' };

export type FromWorker =
  | { kind: 'status'; status: Status }
  /** Everything is written; `file` is what the page has to hand to the browser, if it has. */
  | { kind: 'written'; file: File | Blob | null; part: string | null }
  /** The worker has nothing left to do. */
  | { kind: 'over'; known: Uint8Array<ArrayBuffer> | null };
