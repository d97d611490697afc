// Handing something over: to an account by its e-mail address, to a person in a room, or to everybody there.
import { ask, http } from '$lib/api/client';
import type { Transfer } from '$lib/api/transfers';

export type Receiver =
  | { kind: 'email'; email: string }
  | { kind: 'person'; room_id: string; person_id: string }
  | { kind: 'room'; room_id: string };

export type Options = {
  note?: string;
  /** A hand-out to a room: everybody is asked to hand something in. */
  wantsAnswers?: boolean;
  /** The hand-out that this is handed in for. */
  answers?: string;
};

/** Files and folders of the shelf by e-mail; in a room, files of that room. */
export function handOver(to: Receiver, files: readonly string[], options: Options = {}): Promise<Transfer> {
  const { note, wantsAnswers, answers } = options;
  const body = {
    to,
    files: [...files],
    ...(note?.trim() && { note: note.trim() }),
    ...(wantsAnswers && { wants_answers: true }),
    ...(answers && { answers }),
  };
  return ask(http.POST('/api/v1/transfers', { body }));
}
