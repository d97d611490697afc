// Password-authenticated key exchange: gets the session's secret by a spoken code, which nobody can guess offline.
//
// CPACE-X25519-SHA512 of draft-irtf-cfrg-cpace-21, initiator-responder with explicit confirmation. The caller
// counts wrong guesses.
//
//     guest = await Guest.knock(knock)                             → guest.share
//     door = await Door.answer(knock, secret, guest.share)         → door.share
//     ta = await guest.tag(door.share)
//     { tag, box } = await door.verdict(ta)                        WrongTag: a wrong guess
//     secret = await guest.open(tag, box)                          WrongDoor: who answered does not know the code
import { concat, idBytes, lvCat, text, type Bytes } from './bytes';
import { normalised } from './codes';
import { multiplied, newPrivateKey, pointFor } from './curve';
import { Tampered, WrongDoor, WrongTag } from './errors';
import { Secret } from './keys';
import { decrypt, encrypt, gcmKey, hkdf, hmac, hmacKey, isHmac, newNonce, NONCE_BYTES, sha512 } from './seal';

const DSI = 'CPace255';
const SHA512_BLOCK_BYTES = 128;
const FIELD_BYTES = 32;
const GUEST = text('guest');
const DOOR = text('door');
const BOX = text('drop/1 box');

/** What both sides of a knock must agree on. */
export type Knock = { code: string; name: string; sessionId: string; knockId: string };

export class Guest {
  readonly #knock: Knock;
  readonly #scalar: CryptoKey;
  #doorShare: Bytes | undefined;
  #agreed: Agreed | undefined;

  private constructor(
    knock: Knock,
    scalar: CryptoKey,
    readonly share: Bytes,
  ) {
    this.#knock = knock;
    this.#scalar = scalar;
  }

  /** Raises Unreadable for what cannot be a code, which uses up no guess. */
  static async knock(knock: Knock, scalar?: CryptoKey): Promise<Guest> {
    const drawn = scalar ?? (await newPrivateKey());
    return new Guest(knock, drawn, await multiplied(drawn, await generatorOf(knock)));
  }

  /** The tag. Sending it uses up one guess. Raises BadShare for a share that no honest door sends. */
  async tag(doorShare: Bytes): Promise<Bytes> {
    const shared = await multiplied(this.#scalar, doorShare);
    this.#agreed = await agreedOn(this.#knock, shared, this.share, doorShare);
    this.#doorShare = doorShare;
    return hmac(this.#agreed.macKey, lvCat(this.share, GUEST));
  }

  async open(tag: Bytes, box: Bytes): Promise<Secret> {
    if (!this.#agreed || !this.#doorShare) throw new Error('A guest sends its tag before it opens anything.');
    const { macKey, boxKey } = this.#agreed;
    if (!(await isHmac(macKey, tag, lvCat(this.#doorShare, DOOR)))) {
      throw new WrongDoor('Who answered does not know this code.');
    }
    return Secret.ofSuite(await opened(boxKey, box));
  }
}

export class Door {
  readonly #secret: Secret;
  readonly #guestShare: Bytes;
  readonly #agreed: Agreed;

  private constructor(
    secret: Secret,
    guestShare: Bytes,
    agreed: Agreed,
    readonly share: Bytes,
  ) {
    this.#secret = secret;
    this.#guestShare = guestShare;
    this.#agreed = agreed;
  }

  /** Raises BadShare for a share that no honest guest sends. It counts as a wrong guess. */
  static async answer(knock: Knock, secret: Secret, guestShare: Bytes, scalar?: CryptoKey): Promise<Door> {
    const drawn = scalar ?? (await newPrivateKey());
    const share = await multiplied(drawn, await generatorOf(knock));
    const shared = await multiplied(drawn, guestShare);
    return new Door(secret, guestShare, await agreedOn(knock, shared, guestShare, share), share);
  }

  /** The door's own tag and the encrypted secret, for a guest who has guessed right. */
  async verdict(tag: Bytes): Promise<{ tag: Bytes; box: Bytes }> {
    const { macKey, boxKey } = this.#agreed;
    if (!(await isHmac(macKey, tag, lvCat(this.#guestShare, GUEST)))) {
      throw new WrongTag('The guest does not know the code.');
    }
    const nonce = newNonce();
    const box = concat(nonce, await encrypt(boxKey, nonce, BOX, this.#secret.withSuite));
    return { tag: await hmac(macKey, lvCat(this.share, DOOR)), box };
  }
}

/** The draft's calculate_generator; `prs` is the code, `ci` the context, `sid` the id of this exchange. */
export async function generator(prs: Bytes, ci: Bytes, sid: Bytes): Promise<Bytes> {
  const dsi = text(DSI);
  const padding = Math.max(0, SHA512_BLOCK_BYTES - 1 - lvCat(prs).length - lvCat(dsi).length);
  const hash = await sha512(lvCat(dsi, prs, new Uint8Array(padding), ci, sid));
  return pointFor(hash.slice(0, FIELD_BYTES));
}

/** The draft's ISK, from the shares of initiator and responder and the associated data of each. */
export function sessionKey(
  sid: Bytes,
  shared: Bytes,
  initiator: readonly [Bytes, Bytes],
  responder: readonly [Bytes, Bytes],
): Promise<Bytes> {
  return sha512(concat(lvCat(text(`${DSI}_ISK`), sid, shared), lvCat(...initiator), lvCat(...responder)));
}

type Agreed = { macKey: CryptoKey; boxKey: CryptoKey };

/** The keys, which are the same on both sides if the codes are. */
async function agreedOn(knock: Knock, shared: Bytes, guestShare: Bytes, doorShare: Bytes): Promise<Agreed> {
  const sid = sidOf(knock);
  const isk = await sessionKey(sid, shared, [guestShare, GUEST], [doorShare, DOOR]);
  return {
    macKey: await hmacKey(await sha512(concat(text('CPaceMac'), sid, isk)), 'SHA-512'),
    boxKey: await gcmKey(await hkdf(isk, sid, BOX, 32)),
  };
}

function generatorOf(knock: Knock): Promise<Bytes> {
  const ci = lvCat(text('drop/1'), text(knock.name));
  return generator(text(normalised(knock.code)), ci, sidOf(knock));
}

function sidOf(knock: Knock): Bytes {
  return concat(idBytes(knock.sessionId), idBytes(knock.knockId));
}

async function opened(key: CryptoKey, box: Bytes): Promise<Bytes> {
  try {
    return await decrypt(key, box.subarray(0, NONCE_BYTES), BOX, box.subarray(NONCE_BYTES));
  } catch (error) {
    if (error instanceof Tampered) throw new WrongDoor('The box was changed on its way.', { cause: error });
    throw error;
  }
}
