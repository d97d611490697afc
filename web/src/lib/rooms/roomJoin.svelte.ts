// Coming into a room: at once, or after a knock that its owner answers; from whichever page.
import { goto } from '$app/navigation';
import { live } from '$lib/live/live.svelte';
import { join, readCurrent } from './rooms';

export class RoomJoin {
  /** The code of the room at whose door one waits. */
  knockingAt = $state<string>();
  turnedAway = $state(false);

  /** Hear whether the door is opened, until the function that is given back is called. */
  follow(): () => void {
    const heard = [
      live.on('room.admitted', ({ room_id }) => void this.#enter(room_id)),
      live.on('room.turned-away', () => this.#refused()),
      live.on('room.closed', () => this.#refused()),
      live.on('resync', () => void this.#lookWhereWeAre()),
    ];
    return () => heard.forEach((stop) => stop());
  }

  async join(code: string): Promise<void> {
    this.turnedAway = false;
    const room = await join(code);
    if (room) await goto(roomAddress(room.room_id));
    else this.knockingAt = code;
  }

  /** Wait no longer. If the owner opens later, the page of the rooms says that one is in. */
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

  /** The door may have been opened while the line was down. */
  async #lookWhereWeAre(): Promise<void> {
    if (this.knockingAt === undefined) return;
    const room = await readCurrent().catch(() => undefined);
    if (room?.code === this.knockingAt) await this.#enter(room.room_id);
  }
}

export function roomAddress(roomId: string): string {
  return `/rooms/${roomId}`;
}
