import { describe, expect, it } from 'vitest';
import { fromBase64, fromHex, newId, text, toBase64, toHex, type Bytes } from './bytes';
import { multiplied, publicKeyOf } from './curve';
import { Tampered, UnknownSuite, Unreadable } from './errors';
import {
  Asked,
  isReceipt,
  Keys,
  receiptFor,
  Secret,
  type Agreement,
  type Have,
  type RequestFacts,
  type Stream,
} from './keys';
import { ChainDigest } from './records';
import { encrypt, gcmKey, hmac, hmacKey, seal, unseal } from './seal';
import { flipped, privateKey, vectors } from './testVectors';

const { drop } = vectors;
const SECRET = new Secret(fromHex(drop.keys.secret));
const KEYS = Keys.of(SECRET, drop.keys.session_id);

/** Keys cannot be exported, so two are the same if they give the same results. */
async function marksOf({ key, receiptKey }: Pick<Stream, 'key' | 'receiptKey'>): Promise<string[]> {
  const sealed = await encrypt(key, new Uint8Array(12), new Uint8Array(), new Uint8Array(16));
  return [toHex(sealed), toHex(await hmac(receiptKey, new Uint8Array(16)))];
}

async function marksOfHex(key: string, receiptKey: string): Promise<string[]> {
  return marksOf({
    key: await gcmKey(fromHex(key)),
    receiptKey: await hmacKey(fromHex(receiptKey), 'SHA-256'),
  });
}

describe('the secret', () => {
  it('stands in the link as the other half writes it', () => {
    expect(SECRET.fragment).toBe(drop.keys.fragment);
    expect(toHex(Secret.ofFragment(`#${drop.keys.fragment}`).bytes)).toBe(drop.keys.secret);
  });

  it('of another suite is refused as too new, one that is not whole as not whole', () => {
    expect(() => Secret.ofFragment(toBase64(Uint8Array.of(3, ...SECRET.bytes)))).toThrow(UnknownSuite);
    expect(() => Secret.ofFragment(SECRET.fragment.slice(0, -2))).toThrow(Unreadable);
    expect(() => Secret.ofFragment('')).toThrow(Unreadable);
  });

  it('lets in with what the other half derives', async () => {
    const keys = await KEYS;
    expect(toHex(keys.admission)).toBe(drop.keys.admission);
    expect(toHex(await keys.admissionDigest())).toBe(drop.keys.admission_digest);
    expect(toHex(keys.material.psk)).toBe(drop.keys.psk);
  });

  it('has the digest of a file that the other half has', async () => {
    const digest = new ChainDigest(await (await KEYS).digestKey(drop.keys.file_id));
    expect(toHex(await digest.add(text('a chunk')))).toBe(drop.keys.digest_of_a_chunk);
  });
});

describe('what is sealed', () => {
  it.each(drop.seals)('$# is what the other half seals', async ({ key, aad, text, nonce, sealed }) => {
    const imported = await gcmKey(fromHex(key));
    const value = JSON.parse(text) as unknown;
    expect(toHex(await seal(imported, fromHex(aad), value, fromHex(nonce)))).toBe(sealed);
    expect(await unseal(imported, fromHex(aad), fromHex(sealed))).toEqual(value);
  });

  it('is read only where it belongs, and unchanged', async () => {
    const keys = await KEYS;
    const [member, other] = [newId(), newId()];
    const sealed = await keys.introduce(member, { name: 'Ann', device: 'a telephone' });
    expect(sealed).toHaveLength(12 + 256 + 16);
    expect(await keys.openIntroduction(member, sealed)).toEqual({ name: 'Ann', device: 'a telephone' });
    await expect(keys.openIntroduction(other, sealed)).rejects.toThrow(Tampered);
    await expect(keys.openIntroduction(member, flipped(sealed, 0))).rejects.toThrow(Tampered);
    await expect(keys.openIntroduction(member, flipped(sealed, 50))).rejects.toThrow(Tampered);
    await expect(keys.openIntroduction(member, sealed.slice(0, 5))).rejects.toThrow(Tampered);
    await expect(
      (await Keys.of(Secret.draw(), drop.keys.session_id)).openIntroduction(member, sealed),
    ).rejects.toThrow(Tampered);
  });

  it('is an introduction of the other half', async () => {
    const { member_id, text, sealed } = drop.introduction;
    expect(await (await KEYS).openIntroduction(member_id, fromHex(sealed))).toEqual(JSON.parse(text));
  });

  it.each(drop.announcements)('is the announcement $text', async ({ file_id, owner_id, text, sealed }) => {
    const keys = await KEYS;
    expect(await keys.openAnnouncement(file_id, owner_id, fromHex(sealed))).toEqual(JSON.parse(text));
    await expect(keys.openAnnouncement(owner_id, file_id, fromHex(sealed))).rejects.toThrow(Tampered);
  });

  it.each([
    null,
    [],
    { kind: 'device', name: 'a', size: 1, files: 1, modified: null, type: '' },
    { kind: 'file', name: 7, size: 1, files: 1, modified: null, type: '' },
    { kind: 'file', name: 'a', size: -1, files: 1, modified: null, type: '' },
    { kind: 'file', name: 'a', size: 1.5, files: 1, modified: null, type: '' },
    { kind: 'file', name: 'a', size: 1, modified: null, type: '' },
  ])('is no announcement if it says %j', async (said) => {
    const keys = await KEYS;
    const [file, owner] = [newId(), newId()];
    const sealed = await keys.announce(file, owner, said as never);
    await expect(keys.openAnnouncement(file, owner, sealed)).rejects.toThrow(Tampered);
  });
});

describe.each(drop.requests)('a request $label', (vector) => {
  const have: Have | null = vector.have && { ...vector.have, digest: fromBase64(vector.have.digest) };
  const request: RequestFacts = {
    requestId: vector.request_id,
    fileId: vector.file_id,
    receiverId: vector.receiver_id,
    ownerId: vector.owner_id,
    publicKey: fromHex(vector.receiver_public),
    sealed: fromHex(vector.request),
  };

  it('of the other half is understood', async () => {
    expect(await (await KEYS).openRequest(request)).toEqual(have);
    expect(toHex(await publicKeyOf(await privateKey(vector.receiver_private)))).toBe(vector.receiver_public);
  });

  it('answered by the other half gives the same stream', async () => {
    const asked = new Asked(await KEYS, request, have, await privateKey(vector.receiver_private));
    const stream = await asked.accept(fromHex(vector.owner_public), fromHex(vector.acknowledgement));
    const { length, chunk, first, sum } = vector;
    expect(stream).toMatchObject({ length, chunk, first, sum });
    expect(await marksOf(stream)).toEqual(await marksOfHex(vector.key, vector.receipt_key));
  });

  it('answered here has the keys that the other half has', async () => {
    const shared = await multiplied(await privateKey(vector.owner_private), request.publicKey);
    expect(toHex(shared)).toBe(vector.shared);
    const keys = await (await KEYS).streamKeys(request, fromHex(vector.owner_public), shared);
    expect(toHex(keys.commit)).toBe(vector.commit);
    expect(await marksOf(keys)).toEqual(await marksOfHex(vector.key, vector.receipt_key));
  });
});

describe('asking and answering', () => {
  const [file, receiver, owner] = [newId(), newId(), newId()];
  const WHOLE: Agreement = { length: 1000, chunk: 64, first: 0, sum: { size: 900, files: 2 } };
  const HAVE: Have = { chunk: 64, chunks: 3, digest: new Uint8Array(32).fill(7) };
  const ask = async (have: Have | null = null) => (await KEYS).ask(file, receiver, owner, have);

  it('gives both the same keys, and every time others', async () => {
    const asked = await ask();
    const answer = await (await KEYS).acknowledge(asked.request, WHOLE);
    const marks = await marksOf(await asked.accept(answer.publicKey, answer.sealed));
    expect(marks).toEqual(await marksOf(answer.stream));
    const again = await (await KEYS).acknowledge(asked.request, WHOLE);
    expect(await marksOf(again.stream)).not.toEqual(marks);
  });

  it('says how much the receiver has', async () => {
    expect(await (await KEYS).openRequest((await ask(HAVE)).request)).toEqual(HAVE);
    expect(await (await KEYS).openRequest((await ask({ ...HAVE, chunks: 0 })).request)).toBeNull();
  });

  it.each<keyof RequestFacts>(['requestId', 'fileId', 'receiverId', 'ownerId', 'publicKey', 'sealed'])(
    'is refused by the owner if the server exchanges its %s',
    async (fact) => {
      const [{ request }, other] = [await ask(), await (await KEYS).ask(newId(), newId(), newId(), null)];
      const exchanged = { ...request, [fact]: other.request[fact] };
      await expect((await KEYS).openRequest(exchanged)).rejects.toThrow(Tampered);
      await expect((await KEYS).acknowledge(exchanged, WHOLE)).rejects.toThrow(Tampered);
    },
  );

  it('is refused by the receiver if the server exchanges the key or the answer', async () => {
    const [asked, other] = [await ask(), await ask()];
    const answer = await (await KEYS).acknowledge(asked.request, WHOLE);
    const wrong = await (await KEYS).acknowledge(other.request, WHOLE);
    await expect(asked.accept(wrong.publicKey, answer.sealed)).rejects.toThrow(Tampered);
    await expect(asked.accept(answer.publicKey, wrong.sealed)).rejects.toThrow(Tampered);
    await expect(asked.accept(wrong.publicKey, wrong.sealed)).rejects.toThrow(Tampered);
    await expect(asked.accept(new Uint8Array(32), answer.sealed)).rejects.toThrow(Tampered);
  });

  it.each<[string, Have | null, Agreement]>([
    ['behind a beginning that nobody has', null, { ...WHOLE, first: 3 }],
    ['at another chunk', HAVE, { ...WHOLE, first: 2 }],
    ['with other chunks', HAVE, { ...WHOLE, chunk: 128, first: 3 }],
    ['behind the end', HAVE, { ...WHOLE, length: 191, first: 3 }],
    ['with chunks that are too large', null, { ...WHOLE, chunk: 2 ** 20 + 1 }],
    ['with chunks of nothing', null, { ...WHOLE, chunk: 0 }],
  ])('is refused by the receiver if the owner begins %s', async (_, have, agreement) => {
    const asked = await ask(have);
    const answer = await (await KEYS).acknowledge(asked.request, agreement);
    await expect(asked.accept(answer.publicKey, answer.sealed)).rejects.toThrow(Tampered);
  });

  it.each<[string, (right: string) => unknown]>([
    ['another commitment', (right) => toBase64(flipped(fromBase64(right), 0))],
    ['none', () => undefined],
  ])('is refused by the receiver if the owner has %s', async (_, commit) => {
    const keys = await KEYS;
    const asked = await ask();
    const { publicKey, sealed } = await keys.acknowledge(asked.request, WHOLE);
    const place = keys.acknowledgementPlace(asked.request, publicKey);
    const said = (await unseal(keys.material.auth, place, sealed)) as { commit: string };
    const changed = await seal(keys.material.auth, place, { ...said, commit: commit(said.commit) });
    await expect(asked.accept(publicKey, changed)).rejects.toThrow(Tampered);
  });

  it.each(vectors.cpace.points.filter(({ result }) => /^0+$/.test(result)))(
    'is refused by the owner if the receiver has the key $point',
    async ({ point }) => {
      const keys = await KEYS;
      const facts = { ...(await ask()).request, publicKey: fromHex(point) };
      const sealed: Bytes = await seal(keys.material.auth, keys.requestPlace(facts), { have: null });
      await expect(keys.acknowledge({ ...facts, sealed }, WHOLE)).rejects.toThrow(Tampered);
    },
  );

  it('ends with a receipt that only the receiver can write', async () => {
    const asked = await ask();
    const { stream, ...answer } = await (await KEYS).acknowledge(asked.request, WHOLE);
    const digest = new Uint8Array(32).fill(3);
    const receipt = await receiptFor(await asked.accept(answer.publicKey, answer.sealed), digest);
    expect(await isReceipt(stream, receipt, digest)).toBe(true);
    expect(await isReceipt(stream, receipt, flipped(digest, 0))).toBe(false);
    expect(await isReceipt(stream, flipped(receipt, 0), digest)).toBe(false);
    expect(await isReceipt(stream, new Uint8Array(), digest)).toBe(false);
  });
});

it('works elsewhere after it was posted there', async () => {
  const keys = new Keys(structuredClone((await KEYS).material));
  const { member_id, text, sealed } = drop.introduction;
  expect(await keys.openIntroduction(member_id, fromHex(sealed))).toEqual(JSON.parse(text));
});
