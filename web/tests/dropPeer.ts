// The browser's half of the drop as a program, so that tests can let it talk to the command line's: one JSON object a line.
//
// Asked `{verb, said}`, it answers `{answer}`, or `{refused}` with the kind of what was wrong.
import { createInterface } from 'node:readline';
import { concat, fromBase64, toBase64, type Bytes } from '../src/lib/drop/crypto/bytes';
import { readInvitation } from '../src/lib/drop/crypto/codes';
import { Door, Guest, type Knock } from '../src/lib/drop/crypto/cpace';
import { Untrusted } from '../src/lib/drop/crypto/errors';
import { isReceipt, Keys, receiptFor, Secret } from '../src/lib/drop/crypto/keys';
import type { Agreement, Asked, RequestFacts, Stream } from '../src/lib/drop/crypto/keys';
import { sourceOf } from '../src/lib/drop/crypto/pieces';
import { ChainDigest, Opener, Sealer } from '../src/lib/drop/crypto/records';

type Said = Record<string, string>;
/** What is on its way: the content's first `have` bytes are with the receiver already. */
type Transfer = { content: string; have: number };

let guest: Guest;
let door: Door;
let keys: Keys;
let fileId: string;
let asked: Asked;
let stream: Stream;

const verbs: Record<string, (said: never) => Promise<unknown>> = {
  async knock(said: Knock) {
    guest = await Guest.knock(said);
    return { share: toBase64(guest.share) };
  },

  async tag({ share }: Said) {
    return { tag: toBase64(await guest.tag(bytes(share))) };
  },

  async open({ tag, box }: Said) {
    return { fragment: (await guest.open(bytes(tag), bytes(box))).fragment };
  },

  async answer({ fragment, share, ...knock }: Knock & { fragment: string; share: string }) {
    door = await Door.answer(knock, Secret.ofFragment(fragment), bytes(share));
    return { share: toBase64(door.share) };
  },

  async verdict({ tag }: Said) {
    const verdict = await door.verdict(bytes(tag));
    return { tag: toBase64(verdict.tag), box: toBase64(verdict.box) };
  },

  async draw() {
    return Secret.draw().fragment;
  },

  async invitation({ link }: Record<'link', string>) {
    const { name, server, secret } = readInvitation(link);
    return { name, server, fragment: secret?.fragment };
  },

  async become({ fragment, sessionId }: Record<'fragment' | 'sessionId', string>) {
    keys = await Keys.of(Secret.ofFragment(fragment), sessionId);
    return { admission: toBase64(keys.admission) };
  },

  async introduce({ memberId, introduction }: { memberId: string; introduction: never }) {
    return toBase64(await keys.introduce(memberId, introduction));
  },

  async openIntroduction({ memberId, sealed }: Record<'memberId' | 'sealed', string>) {
    return keys.openIntroduction(memberId, bytes(sealed));
  },

  async announce(said: { fileId: string; ownerId: string; description: never }) {
    return toBase64(await keys.announce(said.fileId, said.ownerId, said.description));
  },

  async openAnnouncement(said: Record<'fileId' | 'ownerId' | 'sealed', string>) {
    return keys.openAnnouncement(said.fileId, said.ownerId, bytes(said.sealed));
  },

  async ask(said: Transfer & { fileId: string; receiverId: string; ownerId: string; chunk: number }) {
    const { receiverId, ownerId, chunk } = said;
    fileId = said.fileId;
    const had = await digestOf(said, chunk);
    const have = { chunk, chunks: had.chunks, digest: await had.value };
    asked = await keys.ask(fileId, receiverId, ownerId, had.chunks ? have : null);
    const { requestId, publicKey, sealed } = asked.request;
    return { requestId, publicKey: toBase64(publicKey), sealed: toBase64(sealed) };
  },

  async accept({ publicKey, sealed }: Said) {
    stream = await asked.accept(bytes(publicKey), bytes(sealed));
    const { length, chunk, first } = stream;
    return { length, chunk, first };
  },

  async acknowledge(said: Record<keyof RequestFacts, string> & { agreement: Agreement }) {
    const { agreement, publicKey, sealed, ...ids } = said;
    fileId = ids.fileId;
    const request = { ...ids, publicKey: bytes(publicKey), sealed: bytes(sealed) };
    const have = await keys.openRequest(request);
    const answer = await keys.acknowledge(request, agreement);
    stream = answer.stream;
    return {
      have: have && { ...have, digest: toBase64(have.digest) },
      publicKey: toBase64(answer.publicKey),
      sealed: toBase64(answer.sealed),
    };
  },

  async seal(said: Transfer) {
    const sealer = new Sealer(stream, await digestOf(said, stream.chunk));
    const rest = chunksOf(read(said.content).slice(said.have), stream.chunk);
    const records = await Promise.all(rest.map((chunk) => sealer.seal(chunk)));
    return written(concat(...records, await sealer.final()));
  },

  async unseal(said: Transfer & { line: string }) {
    const chain = await digestOf(said, stream.chunk);
    const chunks: Bytes[] = [];
    const body = new Blob([read(said.line)]).stream() as ReadableStream<Bytes>;
    for await (const { chunk } of new Opener(stream, chain).open(sourceOf(body))) chunks.push(chunk);
    return {
      content: written(concat(...chunks)),
      receipt: toBase64(await receiptFor(stream, await chain.value)),
    };
  },

  async isReceipt({ receipt, content }: Record<'receipt' | 'content', string>) {
    const whole = await digestOf({ content, have: content.length / 2 }, stream.chunk);
    return isReceipt(stream, bytes(receipt), await whole.value);
  },
};

function bytes(letters: string | undefined): Bytes {
  return fromBase64(letters ?? '');
}

// Contents are too long for what the drop writes keys and ids with.
function written(content: Bytes): string {
  return Buffer.from(content).toString('hex');
}

function read(digits: string): Bytes {
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}

function chunksOf(content: Bytes, chunk: number): Bytes[] {
  const count = Math.ceil(content.length / chunk);
  return Array.from({ length: count }, (_, at) => content.slice(at * chunk, (at + 1) * chunk));
}

async function digestOf({ content, have }: Transfer, chunk: number): Promise<ChainDigest> {
  const digest = new ChainDigest(await keys.digestKey(fileId));
  for (const each of chunksOf(read(content).slice(0, have), chunk)) await digest.add(each);
  return digest;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { verb, said } = JSON.parse(line) as { verb: string; said: never };
  try {
    const answer = (await verbs[verb]?.(said)) ?? null;
    process.stdout.write(`${JSON.stringify({ answer })}\n`);
  } catch (error) {
    if (!(error instanceof Untrusted)) throw error;
    process.stdout.write(`${JSON.stringify({ refused: error.kind })}\n`);
  }
}
