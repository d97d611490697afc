import { describe, expect, it } from 'vitest';
import { fromHex, newId, toHex } from './bytes';
import { Door, generator, Guest, sessionKey, type Knock } from './cpace';
import { multiplied } from './curve';
import { BadShare, UnknownSuite, Unreadable, WrongDoor, WrongTag } from './errors';
import { Secret } from './keys';
import { flipped, privateKey, vectors } from './testVectors';

const { exchange, scalar, points } = vectors.cpace;
const NOTHING = '00'.repeat(32);

describe("the draft's own vectors", () => {
  const bytes = Object.fromEntries(Object.entries(exchange).map(([name, hex]) => [name, fromHex(hex)]));
  const of = (name: keyof typeof exchange) => bytes[name] as Uint8Array<ArrayBuffer>;

  it('have the generator', async () => {
    expect(toHex(await generator(of('PRS'), of('CI'), of('sid')))).toBe(exchange.g);
  });

  it('have the shares, and what both make of them', async () => {
    const [ya, yb] = [await privateKey(exchange.ya), await privateKey(exchange.yb)];
    expect(toHex(await multiplied(ya, of('g')))).toBe(exchange.Ya);
    expect(toHex(await multiplied(yb, of('g')))).toBe(exchange.Yb);
    expect(toHex(await multiplied(ya, of('Yb')))).toBe(exchange.K);
    expect(toHex(await multiplied(yb, of('Ya')))).toBe(exchange.K);
  });

  it('have the session key', async () => {
    const isk = await sessionKey(of('sid'), of('K'), [of('Ya'), of('ADa')], [of('Yb'), of('ADb')]);
    expect(toHex(isk)).toBe(exchange.ISK_IR);
  });

  it.each(points)('have what comes of the point $point', async ({ point, result }) => {
    const product = multiplied(await privateKey(scalar), fromHex(point));
    if (result === NOTHING) await expect(product).rejects.toThrow(BadShare);
    else expect(toHex(await product)).toBe(result);
  });
});

describe.each(vectors.drop.cpace)('knocking with $code', (vector) => {
  const knock: Knock = {
    code: vector.code,
    name: vector.name,
    sessionId: vector.session_id,
    knockId: vector.knock_id,
  };
  const secret = new Secret(fromHex(vector.secret));
  const guest = async () => Guest.knock(knock, await privateKey(vector.guest_scalar));
  const door = async () =>
    Door.answer(knock, secret, fromHex(vector.guest_share), await privateKey(vector.door_scalar));

  it('is said as the other half says it', async () => {
    const asking = await guest();
    expect(toHex(asking.share)).toBe(vector.guest_share);
    expect(toHex(await asking.tag(fromHex(vector.door_share)))).toBe(vector.guest_tag);
    const opened = await asking.open(fromHex(vector.door_tag), fromHex(vector.box));
    expect(toHex(opened.bytes)).toBe(vector.secret);
  });

  it('is answered as the other half answers it', async () => {
    const answering = await door();
    expect(toHex(answering.share)).toBe(vector.door_share);
    const verdict = await answering.verdict(fromHex(vector.guest_tag));
    expect(toHex(verdict.tag)).toBe(vector.door_tag);
    const asking = await guest();
    await asking.tag(answering.share);
    expect(toHex((await asking.open(verdict.tag, verdict.box)).bytes)).toBe(vector.secret);
  });
});

describe('a knock', () => {
  const knock = (changes: Partial<Knock> = {}): Knock => ({ ...RIGHT, ...changes });
  const RIGHT: Knock = { code: '481902', name: 'amber-otter-27', sessionId: newId(), knockId: newId() };

  it.each<[string, Partial<Knock>]>([
    ['another code', { code: '481903' }],
    ['another name', { name: 'amber-otter-28' }],
    ['another session', { sessionId: newId() }],
    ['another time', { knockId: newId() }],
  ])('with %s convinces neither side', async (_, changes) => {
    const guest = await Guest.knock(knock(changes));
    const door = await Door.answer(knock(), Secret.draw(), guest.share);
    const tag = await guest.tag(door.share);
    await expect(door.verdict(tag)).rejects.toThrow(WrongTag);
    // A server that acts as the door can only send the guest's own tag back.
    await expect(guest.open(tag, new Uint8Array(45))).rejects.toThrow(WrongDoor);
  });

  it('gives the secret in whatever spelling the code was typed', async () => {
    const guest = await Guest.knock(knock({ code: ' ４８１ 902' }));
    const secret = Secret.draw();
    const door = await Door.answer(knock(), secret, guest.share);
    const { tag, box } = await door.verdict(await guest.tag(door.share));
    expect((await guest.open(tag, box)).fragment).toBe(secret.fragment);
  });

  it('does not open a box that was changed on its way, or cut', async () => {
    const guest = await Guest.knock(knock());
    const door = await Door.answer(knock(), Secret.draw(), guest.share);
    const { tag, box } = await door.verdict(await guest.tag(door.share));
    await expect(guest.open(tag, flipped(box, 20))).rejects.toThrow(WrongDoor);
    await expect(guest.open(tag, box.slice(0, 11))).rejects.toThrow(WrongDoor);
    await expect(guest.open(flipped(tag, 0), box)).rejects.toThrow(WrongDoor);
  });

  it.each(points.filter(({ result }) => result === NOTHING))('with $point is refused', async ({ point }) => {
    await expect(Door.answer(knock(), Secret.draw(), fromHex(point))).rejects.toThrow(BadShare);
    await expect((await Guest.knock(knock())).tag(fromHex(point))).rejects.toThrow(BadShare);
  });

  it('with a share of another length is refused', async () => {
    await expect(Door.answer(knock(), Secret.draw(), new Uint8Array(31).fill(9))).rejects.toThrow(BadShare);
  });

  it('is not made with what cannot be a code', async () => {
    await expect(Guest.knock(knock({ code: '4819' }))).rejects.toThrow(Unreadable);
  });

  it('is not opened before the guess is spent', async () => {
    const guest = await Guest.knock(knock());
    await expect(guest.open(new Uint8Array(64), new Uint8Array(45))).rejects.toThrow('sends its tag before');
  });
});

it('refuses a secret of a suite that it does not know', () => {
  expect(() => Secret.ofSuite(Uint8Array.of(3, ...new Uint8Array(16)))).toThrow(UnknownSuite);
});
