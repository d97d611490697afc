// Reads photos and albums again when others, or the same person elsewhere, have changed them.
import { live } from '$lib/live/live.svelte';
import { Throttle } from '$lib/shell/throttle';

// Photos come by the hundred: nobody has to see each of them arrive.
const REST_MS = 1500;

/** `concerns` says of an album, or of `bin` or `undated`, whether it is in sight. Returns a function that ends it. */
export function follow(concerns: (albumId: string) => boolean, read: () => Promise<void>): () => void {
  const pace = new Throttle(read, REST_MS);
  const ends = [
    live.on('album.photos', ({ album_ids }) => album_ids.some(concerns) && pace.ask()),
    live.on('album.changed', ({ album_id }) => concerns(album_id) && pace.ask()),
    // The page may have been read before the server began to tell.
    live.on('hello', pace.ask),
    live.on('resync', pace.ask),
  ];
  return () => {
    pace.stop();
    ends.forEach((end) => end());
  };
}
