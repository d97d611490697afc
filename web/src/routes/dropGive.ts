// Hands files over by a drop session: the one that this tab is in, or a new one.
import { contentOfFile } from '$lib/drop/transfer/contentTransfer';
import { here, open } from '$lib/drop/sessionJoin.svelte';

/** The address of the session, where its code stands. */
export async function giveByDrop(files: readonly File[]): Promise<string> {
  const current = here.session && !here.session.ended ? here.session : undefined;
  const session = current ?? (await here.enter(open));
  await session.announce(files.map(contentOfFile));
  return `/drop/${session.name}`;
}
