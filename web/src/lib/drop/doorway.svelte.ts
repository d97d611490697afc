// The door of a session in this tab: the code that is shown, and who comes in by it.
import { Problem } from '$lib/api/problems';
import type { MemberCalls } from './calls';
import { fromBase64, toBase64 } from './crypto/bytes';
import { newCode } from './crypto/codes';
import { Door } from './crypto/cpace';
import { BadShare, Tampered, WrongTag } from './crypto/errors';
import { SUITE, type Secret } from './crypto/keys';
import { DoorKeeper, type DoorCode, type Surroundings } from './door';

type Place = { name: string; sessionId: string };
export type Kind = Parameters<typeof newCode>[0];

export class Doorway {
  /** None, if others are the door. */
  shown = $state.raw<DoorCode>();
  #place: Place;
  #secret: Secret;
  #calls: MemberCalls;
  #keep: (code: DoorCode | undefined) => void;
  #kept: DoorCode | undefined;
  #keeper: DoorKeeper | undefined;
  #kind: Kind = 'digits';

  constructor(
    place: Place,
    secret: Secret,
    calls: MemberCalls,
    keep: (code: DoorCode | undefined) => void,
    kept?: DoorCode,
  ) {
    this.#place = place;
    this.#secret = secret;
    this.#calls = calls;
    this.#keep = keep;
    this.#kept = kept;
  }

  open(): void {
    this.#keeper ??= new DoorKeeper(this.#around(), this.#kept);
  }

  shut(): void {
    this.#keeper?.close();
    this.#keeper = this.#kept = this.shown = undefined;
    this.#keep(undefined);
  }

  renew(kind: Kind): void {
    this.#kind = kind;
    this.#keeper?.renew();
  }

  async knock({ knock_id, suite, share }: { knock_id: string; suite: number; share: string }): Promise<void> {
    await unlessTooLate(async () => {
      // Nothing is computed for it, so it is no guess.
      if (suite !== SUITE) await this.#calls.judgeKnock(knock_id, { refused: 'versions-differ' });
      else await this.#keeper?.knock(knock_id, share);
    });
  }

  async tag({ knock_id, tag }: { knock_id: string; tag: string }): Promise<void> {
    await unlessTooLate(async () => this.#keeper?.tag(knock_id, tag));
  }

  #around(): Surroundings {
    const { name, sessionId } = this.#place;
    return {
      draw: () => newCode(this.#kind),
      meet: async (code, knockId, share) => {
        const door = await Door.answer({ code, name, sessionId, knockId }, this.#secret, fromBase64(share));
        return {
          share: toBase64(door.share),
          verdict: async (guestsTag) => {
            const { tag, box } = await door.verdict(fromBase64(guestsTag));
            return { tag: toBase64(tag), sealed: toBase64(box) };
          },
        };
      },
      answer: (knockId, share) => this.#calls.answerKnock(knockId, share),
      judge: (knockId, verdict) => this.#calls.judgeKnock(knockId, verdict),
      isWrongGuess: (failure) =>
        failure instanceof BadShare || failure instanceof WrongTag || failure instanceof Tampered,
      changed: (code) => {
        this.shown = code;
        this.#keep(code);
      },
    };
  }
}

/** The guest may have gone, and the line may be lost: whoever knocks then knocks again. */
async function unlessTooLate(answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (failure) {
    if (!(failure instanceof Problem)) throw failure;
  }
}
