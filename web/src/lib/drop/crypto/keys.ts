// What members do with the secret of a session: exchange encrypted messages, and agree on the keys of a stream.
//
// Mirrors src/satchel/cli/drop/crypto/session_keys.py; ids are 32 hexadecimal digits, everything else is bytes.
import { concat, fromBase64, idBytes, isEqual, newId, text, toBase64, type Bytes } from './bytes';
import { multiplied, newPrivateKey, publicKeyOf } from './curve';
import { BadShare, Tampered, UnknownSuite, Unreadable } from './errors';
import {
  readAgreement,
  readDescription,
  readHave,
  readIntroduction,
  type Description,
  type Have,
  type Introduction,
  type Sum,
} from './memberMessages';
import { gcmKey, hkdf, hmac, hmacKey, isHmac, randomBytes, seal, sha256, unseal } from './seal';

export type { Description, Have, Introduction, Sum } from './memberMessages';

/** The version of all computations here, as one byte. */
export const SUITE = 2;
export const CHUNK_BYTES = 262_144;

const SECRET_BYTES = 16;

/** The secret of a session. It is in the link, and the door sends it, encrypted, to a guest. */
export class Secret {
  constructor(readonly bytes: Bytes) {
    if (bytes.length !== SECRET_BYTES) throw new Unreadable('A secret has 16 bytes.');
  }

  static draw(): Secret {
    return new Secret(randomBytes(SECRET_BYTES));
  }

  /** From the fragment of a link, with or without its `#`. */
  static ofFragment(fragment: string): Secret {
    return Secret.ofSuite(readFragment(fragment.replace(/^#/, '')));
  }

  /** From the suite's byte and the secret. */
  static ofSuite(bytes: Bytes): Secret {
    if (bytes.length > 0 && bytes[0] !== SUITE)
      throw new UnknownSuite('The other program is of another age.');
    return new Secret(bytes.slice(1));
  }

  get withSuite(): Bytes {
    return concat(Uint8Array.of(SUITE), this.bytes);
  }

  get fragment(): string {
    return toBase64(this.withSuite);
  }
}

function readFragment(fragment: string): Bytes {
  try {
    return fromBase64(fragment);
  } catch (error) {
    throw new Unreadable('This link is not whole.', { cause: error });
  }
}

/** The message with which a worker makes `new Keys(material)`. The keys in it cannot be exported. */
export type KeyMaterial = {
  sessionId: string;
  admission: Bytes;
  meta: CryptoKey;
  auth: CryptoKey;
  psk: Bytes;
};

/** A request as the server shows it, without its acknowledgement. */
export type RequestFacts = {
  requestId: string;
  fileId: string;
  receiverId: string;
  ownerId: string;
  publicKey: Bytes;
  sealed: Bytes;
};

type Unsealed = Omit<RequestFacts, 'sealed'>;

/**
 * What the owner will send. `length` is null while it is not known, `first` is the first chunk, `sum` what the owner
 * announces by now, which an older program does not say.
 */
export type Agreement = { length: number | null; chunk: number; first: number; sum: Sum | null };

/** The parameters of one stream. They can be posted to a worker. */
export type Stream = Agreement & { key: CryptoKey; receiptKey: CryptoKey };

export type Acknowledged = { publicKey: Bytes; sealed: Bytes; stream: Stream };

export class Keys {
  readonly admission: Bytes;

  constructor(readonly material: KeyMaterial) {
    this.admission = material.admission;
  }

  static async of(secret: Secret, sessionId: string): Promise<Keys> {
    const salt = idBytes(sessionId);
    const derived = ['admission', 'meta', 'auth', 'psk'].map((use) =>
      hkdf(secret.bytes, salt, text(`drop/1 ${use}`), 32),
    );
    const [admission, meta, auth, psk] = (await Promise.all(derived)) as [Bytes, Bytes, Bytes, Bytes];
    return new Keys({ sessionId, admission, meta: await gcmKey(meta), auth: await gcmKey(auth), psk });
  }

  /** The hash of the admission, which is all that the server gets when a session is opened. */
  admissionDigest(): Promise<Bytes> {
    return sha256(this.admission);
  }

  /** The key of a file's digest. Another session, or another file in it, has another one. */
  async digestKey(fileId: string): Promise<CryptoKey> {
    const { sessionId, psk } = this.material;
    const info = concat(text('drop/1 digest'), idBytes(fileId));
    return gcmKey(await hkdf(psk, idBytes(sessionId), info, 32));
  }

  introduce(memberId: string, introduction: Introduction): Promise<Bytes> {
    return seal(this.material.meta, this.#place('member', memberId), introduction);
  }

  async openIntroduction(memberId: string, sealed: Bytes): Promise<Introduction> {
    return readIntroduction(await unseal(this.material.meta, this.#place('member', memberId), sealed));
  }

  announce(fileId: string, ownerId: string, description: Description): Promise<Bytes> {
    return seal(this.material.meta, this.#place('file', fileId, ownerId), description);
  }

  async openAnnouncement(fileId: string, ownerId: string, sealed: Bytes): Promise<Description> {
    return readDescription(await unseal(this.material.meta, this.#place('file', fileId, ownerId), sealed));
  }

  /** For receivers: ask for a file. `have` says how much of it is there already. */
  async ask(fileId: string, receiverId: string, ownerId: string, have: Have | null): Promise<Asked> {
    const privateKey = await newPrivateKey();
    const publicKey = await publicKeyOf(privateKey);
    const facts = { requestId: newId(), fileId, receiverId, ownerId, publicKey };
    const said = { have: have?.chunks ? { ...have, digest: toBase64(have.digest) } : null };
    const sealed = await seal(this.material.auth, this.requestPlace(facts), said);
    return new Asked(this, { ...facts, sealed }, have, privateKey);
  }

  /** For owners: what the receiver has already. Raises Tampered unless a member asks. */
  async openRequest(request: RequestFacts): Promise<Have | null> {
    return readHave(await unseal(this.material.auth, this.requestPlace(request), request.sealed));
  }

  /** For owners: acknowledge a member's request. Every call makes new keys, for one stream. */
  async acknowledge(request: RequestFacts, agreement: Agreement): Promise<Acknowledged> {
    await this.openRequest(request);
    const privateKey = await newPrivateKey();
    const publicKey = await publicKeyOf(privateKey);
    const shared = await sharedBy(privateKey, request.publicKey);
    const { commit, ...keys } = await this.streamKeys(request, publicKey, shared);
    const { length, chunk, first, sum } = agreement;
    const said = { length, chunk, first, commit: toBase64(commit), ...(sum && { sum }) };
    const sealed = await seal(this.material.auth, this.acknowledgementPlace(request, publicKey), said);
    return { publicKey, sealed, stream: { length, chunk, first, sum, ...keys } };
  }

  /** The associated data that binds a message to one request. */
  requestPlace(facts: Unsealed): Bytes {
    return concat(text('drop/1 request'), this.#facts(facts));
  }

  acknowledgementPlace(facts: Unsealed, ownersKey: Bytes): Bytes {
    return concat(text('drop/1 acknowledge'), this.#facts(facts), ownersKey);
  }

  /** Derived from all messages of both sides and their shared secret. */
  async streamKeys(
    request: RequestFacts,
    ownersKey: Bytes,
    shared: Bytes,
  ): Promise<{ key: CryptoKey; commit: Bytes; receiptKey: CryptoKey }> {
    const asked = await sha256(request.sealed);
    const transcript = await sha256(concat(text('drop/1'), this.#facts(request), ownersKey, asked));
    const keys = await hkdf(shared, this.material.psk, concat(text('drop/1 stream'), transcript), 96);
    return {
      key: await gcmKey(keys.slice(0, 32)),
      commit: keys.slice(32, 64),
      receiptKey: await hmacKey(keys.slice(64), 'SHA-256'),
    };
  }

  #facts({ fileId, requestId, receiverId, ownerId, publicKey }: Unsealed): Bytes {
    const ids = [this.material.sessionId, fileId, requestId, receiverId, ownerId].map(idBytes);
    return concat(...ids, publicKey);
  }

  #place(what: string, ...ids: string[]): Bytes {
    return concat(text(`drop/1 ${what}`), ...[this.material.sessionId, ...ids].map(idBytes));
  }
}

/** A request that waits for its acknowledgement. */
export class Asked {
  readonly #keys: Keys;
  readonly #have: Have | null;
  readonly #privateKey: CryptoKey;

  constructor(
    keys: Keys,
    readonly request: RequestFacts,
    have: Have | null,
    privateKey: CryptoKey,
  ) {
    this.#keys = keys;
    this.#have = have;
    this.#privateKey = privateKey;
  }

  /** The stream that the owner will send. Raises Tampered unless the owner has answered this very request. */
  async accept(publicKey: Bytes, sealed: Bytes): Promise<Stream> {
    const place = this.#keys.acknowledgementPlace(this.request, publicKey);
    const { commit, ...agreement } = readAgreement(await unseal(this.#keys.material.auth, place, sealed));
    const shared = await sharedBy(this.#privateKey, publicKey);
    const { commit: right, ...keys } = await this.#keys.streamKeys(this.request, publicKey, shared);
    if (!isEqual(fromBase64(commit), right)) throw new Tampered('The owner has other keys.');
    const { first, chunk } = agreement;
    if (first > 0 && (first !== this.#have?.chunks || chunk !== this.#have.chunk)) {
      throw new Tampered('The owner begins where nobody asked it to.');
    }
    return { ...agreement, ...keys };
  }
}

async function sharedBy(privateKey: CryptoKey, publicKey: Bytes): Promise<Bytes> {
  try {
    return await multiplied(privateKey, publicKey);
  } catch (error) {
    if (error instanceof BadShare) throw new Tampered('No honest program has such a key.', { cause: error });
    throw error;
  }
}

/** The receipt, which the receiver sends when it has everything. */
export function receiptFor(stream: Stream, digest: Bytes): Promise<Bytes> {
  return hmac(stream.receiptKey, concat(text('drop/1 received'), digest));
}

export function isReceipt(stream: Stream, receipt: Bytes, digest: Bytes): Promise<boolean> {
  return isHmac(stream.receiptKey, receipt, concat(text('drop/1 received'), digest));
}

/** What the receiver sends instead of a receipt when something was changed on its way. */
export function refusalFor(stream: Stream): Promise<Bytes> {
  return hmac(stream.receiptKey, text('drop/1 refused'));
}

export function isRefusal(stream: Stream, refusal: Bytes): Promise<boolean> {
  return isHmac(stream.receiptKey, refusal, text('drop/1 refused'));
}
