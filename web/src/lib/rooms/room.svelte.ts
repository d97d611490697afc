// A room as somebody in it sees it: read once, then kept up to date by live events, and read again after a silence.
import { Problem } from '$lib/api/client';
import type { News } from '$lib/live/events';
import { live } from '$lib/live/live.svelte';
import { joined } from './chatMessages';
import { withFile } from './roomFolders';
import { readChat, readFiles, readRoom, say, type ChatMessage, type RoomFile, type RoomView } from './rooms';

export type Ending = News['room.closed']['reason'] | 'unknown';

export class Room {
  readonly id: string;
  view = $state.raw<RoomView>();
  files = $state.raw<RoomFile[]>([]);
  messages = $state.raw<ChatMessage[]>([]);
  /** Whether more was said before what is shown. */
  hasEarlier = $state(false);
  problem = $state.raw<Problem>();
  /** Why one is not in it any more. */
  ended = $state<Ending>();
  #reading: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  /** Changes to files that arrived while they were being read, and may be newer. */
  #meanwhile: ((files: RoomFile[]) => RoomFile[])[] = [];

  constructor(id: string) {
    this.id = id;
  }

  /** Hear what happens in it; returns a function that ends it. */
  follow(): () => void {
    const ours =
      <Told extends { room_id: string }>(handle: (told: Told) => void) =>
      (told: Told): void => {
        if (told.room_id === this.id && !this.ended) handle(told);
      };
    const heard = [
      live.on('resync', () => void this.read()),
      live.on(
        'room.changed',
        ours(() => void this.look()),
      ),
      live.on(
        'room.chat',
        ours(({ message }) => this.#hear([message])),
      ),
      live.on(
        'room.file',
        ours(({ file }) => this.#sort((files) => withFile(files, file))),
      ),
      live.on(
        'room.file-gone',
        ours(({ file_id }) => this.forget(file_id)),
      ),
      live.on(
        'room.closed',
        ours(({ reason }) => (this.ended = reason)),
      ),
    ];
    void this.read();
    return () => heard.forEach((stop) => stop());
  }

  /** Read everything again; the old data stays until the new is here. */
  read = (): Promise<void> => {
    this.#reading ??= this.#attempt(() => this.#readAll()).finally(() => (this.#reading = undefined));
    return this.#reading;
  };

  /** Read the room and its people; once more if something changes meanwhile. */
  look(): Promise<void> {
    this.#lookAgain = true;
    this.#looking ??= this.#attempt(async () => {
      while (this.#lookAgain) {
        this.#lookAgain = false;
        this.view = await readRoom(this.id);
      }
    }).finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async readEarlier(): Promise<void> {
    await this.#attempt(async () => {
      const page = await readChat(this.id, this.messages[0]?.message_id);
      this.messages = joined(page.messages, this.messages);
      this.hasEarlier = page.more;
    });
  }

  async say(text: string): Promise<void> {
    this.#hear([await say(this.id, text)]);
  }

  forget(fileId: string): void {
    this.#sort((files) => files.filter(({ file_id }) => file_id !== fileId));
  }

  async #readAll(): Promise<void> {
    this.#meanwhile = [];
    const [view, files, chat] = await Promise.all([readRoom(this.id), readFiles(this.id), readChat(this.id)]);
    this.view = view;
    this.files = this.#meanwhile.reduce((sorted, sort) => sort(sorted), files);
    // So many messages came meanwhile that the known ones and the ones just read do not overlap.
    const hasGap = chat.more && !chat.messages.some(({ message_id }) => this.#knows(message_id));
    if (hasGap || !this.messages.length) this.hasEarlier = chat.more;
    this.messages = joined(hasGap ? [] : this.messages, chat.messages);
  }

  #knows(messageId: string): boolean {
    return this.messages.some(({ message_id }) => message_id === messageId);
  }

  #hear(messages: ChatMessage[]): void {
    this.messages = joined(this.messages, messages);
  }

  #sort(change: (files: RoomFile[]) => RoomFile[]): void {
    if (this.#reading) this.#meanwhile.push(change);
    this.files = change(this.files);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.problem = undefined;
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      // Whoever was removed while disconnected learns of it here.
      if (failure.status === 404) this.ended ??= 'unknown';
      else this.problem = failure;
    }
  }
}
