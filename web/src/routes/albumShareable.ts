// An album as the share sheet takes it.
import type { Album } from '$lib/albums/albumCalls';
import { gatherOf } from '$lib/albums/albumFiles';
import { t } from '$lib/i18n/index.svelte';
import type { Shareable } from './ShareSheet.svelte';

export function albumShareable(album: Album, onpeople: () => void): Shareable {
  const { album_id: id, name } = album;
  return {
    name,
    thing: { kind: 'album', id },
    onpeople,
    gather: gatherOf(album),
    about: album.with_location ? undefined : t('share.albumAbout'),
  };
}
