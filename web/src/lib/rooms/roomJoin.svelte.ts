// Joins a room by its code: at once, or after a knock that the owner answers.
import { goto } from '$app/navigation';
import { live } from '$lib/live/live.svelte';
import { join, readCurrent } from './rooms';

export class RoomJoin {
  /** The code of the room at whose door one waits. */
  knockingAt = $state<string>();
  turnedAway = $state(false);

  /** Hear whether the door is opened; returns a function that ends it. */
  follow(): () => void {
    const heard = [
      live.on('room.admitted', ({ room_id }) => void this.#enter(room_id)),
      live.on('room.turned-away', () => this.#refused()),
      live.on('room.closed', () => this.#refused()),
      live.on('resync', () => void this.#lookWhereWeAre()),
    ];
    return () => heard.forEach((stop) => stop());
  }

  /** `key` is what follows the `#` of a link: whoever has it is not taken for somebody who guesses. */
  async join(code: string, key = ''): Promise<void> {
    this.turnedAway = false;
    const room = await join(code, key);
    if (room) await goto(roomAddress(room.room_id));
    else this.knockingAt = code;
  }

  /** Stop waiting. If the owner lets us in later, the page of the rooms says so. */
  giveUp(): void {
    this.knockingAt = undefined;
  }

  async #enter(roomId: string): Promise<void> {
    if (this.knockingAt !== undefined) await goto(roomAddress(roomId));
  }

  #refused(): void {
    if (this.knockingAt === undefined) return;
    this.knockingAt = undefined;
    this.turnedAway = true;
  }

  /** The owner may have let us in while the connection was down. */
  async #lookWhereWeAre(): Promise<void> {
    if (this.knockingAt === undefined) return;
    const room = await readCurrent().catch(() => undefined);
    if (room?.code === this.knockingAt) await this.#enter(room.room_id);
  }
}

export function roomAddress(roomId: string): string {
  return `/rooms/${roomId}`;
}
