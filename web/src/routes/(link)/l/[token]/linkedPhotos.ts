// Files of an album that a link leads to, as the photos that grids show.
import { ratiosOf, type Photo } from '$lib/albums/photo';
import type { PhotoPage } from '$lib/albums/photoCalls';
import { fileAddress, passQuery, readFiles, type LinkedFile } from '$lib/links/landingCalls';

export async function readLinkedPhotos(
  token: string,
  pass: string,
  cursor: string | null,
): Promise<PhotoPage> {
  const page = await readFiles(token, pass, cursor);
  return { photos: page.files.map((file) => photoOf(token, pass, file)), cursor: page.cursor };
}

function photoOf(token: string, pass: string, file: LinkedFile): Photo {
  const { file_id, content_type, picture, photo } = file;
  const { width, height, placeholder, version, duration_ms } = picture ?? {};
  return {
    owner: '',
    id: file_id,
    time: photo?.local_time ?? '',
    type: photo?.type ?? (content_type.startsWith('video/') ? 'VIDEO' : 'IMAGE'),
    ...ratiosOf(photo?.ratio ? photo.ratio / 1000 : width && height ? width / height : 0),
    placeholder: placeholder ?? '',
    version: version ?? '',
    durationMs: photo?.duration_ms ?? duration_ms ?? 0,
    favourite: false,
    pinned: false,
    at: fileAddress(token, file_id),
    query: passQuery(pass),
  };
}
