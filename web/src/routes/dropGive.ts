// Hands files over by a drop session: the one that this tab is in, or a new one.
import { contentOfFile, contentOfFolder } from '$lib/drop/transfer/contentTransfer';
import { here, open } from '$lib/drop/sessionJoin.svelte';

/** As the folder of this name, or one by one. The address of the session, where its code stands. */
export async function giveByDrop(files: readonly File[], folder?: string): Promise<string> {
  const current = here.session && !here.session.ended ? here.session : undefined;
  const session = current ?? (await here.enter(open));
  const picked = files.map((file) => ({ file, path: `/${file.name}` }));
  await session.announce(folder === undefined ? files.map(contentOfFile) : [contentOfFolder(folder, picked)]);
  return `/drop/${session.name}`;
}
