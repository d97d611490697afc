// A sender and a receiver as their workers run, against a server that says whatever a test wants.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fromBase64, newId, toBase64 } from '../crypto/bytes';
import {
  Keys,
  receiptFor,
  refusalFor,
  Secret,
  type Asked,
  type RequestFacts,
  type Sum,
} from '../crypto/keys';
import { ChainDigest } from '../crypto/records';
import type { Announced, FromWorker, RequestView, Status } from './messages';
import { ReceiveJob } from './receiveJob';
import { SendJob } from './sendJob';

const [SESSION, FILE, OWNER, RECEIVER] = [newId(), newId(), newId(), newId()] as const;
const KEYS = Keys.of(Secret.draw(), SESSION);
const CONTENT = 'twenty bytes of text';

type Said = Record<string, string>;

/** Answers every call with nothing, and remembers it. */
function server(): { calls: { path: string; body: Said }[]; called: (path: RegExp) => Promise<Said> } {
  const calls: { path: string; body: Said }[] = [];
  vi.stubGlobal('fetch', async (path: string, { body }: { body?: string | Blob }) => {
    calls.push({ path, body: typeof body === 'string' ? (JSON.parse(body) as Said) : {} });
    return new Response(null, { status: 204 });
  });
  const called = async (path: RegExp): Promise<Said> =>
    vi.waitUntil(() => calls.find((call) => path.test(call.path))?.body, 5000);
  return { calls, called };
}

function statuses(): { tell: (news: FromWorker) => void; last: () => Status | undefined } {
  const seen: Status[] = [];
  return { tell: (news) => void (news.kind === 'status' && seen.push(news.status)), last: () => seen.at(-1) };
}

function viewOf({ requestId, publicKey, sealed }: RequestFacts): RequestView {
  return {
    request_id: requestId,
    file_id: FILE,
    receiver_id: RECEIVER,
    owner_id: OWNER,
    public_key: toBase64(publicKey),
    sealed: toBase64(sealed),
    acknowledged: null,
    chunks: 0,
    is_flowing: false,
  };
}

afterEach(() => vi.unstubAllGlobals());

describe('a sender', () => {
  async function sending(): Promise<{
    asked: Asked;
    job: SendJob;
    last: () => Status | undefined;
    over: Promise<void>;
  }> {
    const keys = await KEYS;
    const asked = await keys.ask(FILE, RECEIVER, OWNER, null);
    const { tell, last } = statuses();
    const task = {
      kind: 'send' as const,
      access: { memberId: OWNER, token: 'token', keys: keys.material },
      request: viewOf(asked.request),
      content: new Blob([CONTENT]),
      announced: { size: CONTENT.length, files: 1 },
      known: new Uint8Array(),
      inFlight: 1,
    };
    const job = new SendJob(task, tell);
    return { asked, job, last, over: job.run() };
  }

  it('passes a forged receipt over and hears the right one that comes behind it', async () => {
    const { called, calls } = server();
    const { asked, job, last, over } = await sending();
    const { public_key, sealed } = await called(/acknowledge$/);
    const stream = await asked.accept(fromBase64(public_key as string), fromBase64(sealed as string));
    await called(/bytes/);
    const done = { type: 'drop.done' as const, request_id: asked.request.requestId };
    job.hear({ ...done, receipt: toBase64(new Uint8Array(32)) });
    await vi.waitUntil(() => calls.length > 1);
    expect(last()?.stage).toBe('flowing');
    const digest = new ChainDigest(await (await KEYS).digestKey(FILE));
    await digest.add(new TextEncoder().encode(CONTENT));
    job.hear({ ...done, receipt: toBase64(await receiptFor(stream, await digest.value)) });
    await over;
    expect(last()?.stage).toBe('done');
  });

  it('hears of it when the receiver finds that something was changed', async () => {
    const { called } = server();
    const { asked, job, last, over } = await sending();
    const { public_key, sealed } = await called(/acknowledge$/);
    const stream = await asked.accept(fromBase64(public_key as string), fromBase64(sealed as string));
    const refusal = toBase64(await refusalFor(stream));
    job.hear({ type: 'drop.done', request_id: asked.request.requestId, receipt: refusal });
    await over;
    expect(last()).toMatchObject({ stage: 'failed', failure: { kind: 'complained' } });
  });
});

describe('a receiver', () => {
  const OFFERED: Announced = {
    kind: 'file',
    name: 'a',
    size: 20,
    files: 1,
    modified: null,
    type: 'text/plain',
  };

  it.each<[string, Partial<Announced>, number, Sum | null]>([
    ['another length', {}, 21, null],
    ['another length, though it says the same size', {}, 21, { size: 20, files: 1 }],
    ['a folder of another size', { kind: 'folder' }, 90, { size: 21, files: 1 }],
    ['a folder with more files', { kind: 'folder' }, 90, { size: 20, files: 27 }],
  ])('takes nothing from an owner who sends %s', async (_, changed, length, sum) => {
    const { called, calls } = server();
    const keys = await KEYS;
    const { tell, last } = statuses();
    const access = { memberId: RECEIVER, token: 'token', keys: keys.material };
    const description = { ...OFFERED, ...changed };
    const place = { kind: 'memory' as const };
    const job = new ReceiveJob(
      { kind: 'receive', access, fileId: FILE, ownerId: OWNER, description, place },
      tell,
    );
    const over = job.run();
    const said = await called(/requests$/);
    const request = {
      requestId: said['request_id'] as string,
      fileId: FILE,
      receiverId: RECEIVER,
      ownerId: OWNER,
      publicKey: fromBase64(said['public_key'] as string),
      sealed: fromBase64(said['sealed'] as string),
    };
    const { publicKey, sealed } = await keys.acknowledge(request, { length, chunk: 64, first: 0, sum });
    const acknowledged = { public_key: toBase64(publicKey), sealed: toBase64(sealed), chunks: 1, bytes: 1 };
    job.hear({ type: 'drop.request', request: { ...viewOf(request), acknowledged } });
    await over;
    expect(last()).toMatchObject({ stage: 'failed', failure: { kind: 'differs' } });
    expect(calls.some(({ path }) => path.endsWith('/bytes'))).toBe(false);
  });
});
