// Which image of a file is looked at: its picture, which loads fast, or the file itself.
import type { Entry } from './entries';

// What is not larger than a picture is shown as it is.
const SMALL_BYTES = 400_000;

/** Whether a browser can show the file itself as an image. */
export function hasOriginal({ previewable }: Entry): boolean {
  return previewable === 'image';
}

/** Whether the picture is shown first: of large images, and of those that only the server can read, such as HEIC. */
export function startsWithPicture(file: Entry): boolean {
  if (!file.picture) return false;
  if (!hasOriginal(file)) return file.previewable === null;
  // A picture does not move.
  const mayMove = file.content_type === 'image/gif';
  return !mayMove && (file.size_bytes ?? 0) > SMALL_BYTES;
}
