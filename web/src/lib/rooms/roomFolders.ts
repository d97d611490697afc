// The folders of a room's shelf, derived from the paths of its files.
import type { RoomFile } from './rooms';

export type Folder = { path: string; name: string; files: RoomFile[]; sizeBytes: number };
export type Contents = { folders: Folder[]; files: RoomFile[] };

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** What stands directly in a folder; the newest file first, folders by name. */
export function contentsOf(files: readonly RoomFile[], folder: string): Contents {
  const folders = new Map<string, Folder>();
  const here: RoomFile[] = [];
  for (const file of files) {
    if (file.folder === folder) here.push(file);
    else if (isWithin(file, folder)) {
      const name = file.folder.slice(folder ? folder.length + 1 : 0).split('/')[0] ?? '';
      const path = folder ? `${folder}/${name}` : name;
      const found = folders.get(path) ?? { path, name, files: [], sizeBytes: 0 };
      found.files.push(file);
      found.sizeBytes += file.size_bytes;
      folders.set(path, found);
    }
  }
  return {
    folders: [...folders.values()].sort((one, other) => names.compare(one.name, other.name)),
    files: here.sort((one, other) => other.at.localeCompare(one.at) || names.compare(one.name, other.name)),
  };
}

/** The steps from the top down to a folder. */
export function stepsTo(folder: string): { path: string; name: string }[] {
  const steps = folder ? folder.split('/') : [];
  return steps.map((name, index) => ({ path: steps.slice(0, index + 1).join('/'), name }));
}

/** `files` with one more, or with a newer word about one of them. */
export function withFile(files: readonly RoomFile[], file: RoomFile): RoomFile[] {
  const known = files.some(({ file_id }) => file_id === file.file_id);
  return known ? files.map((each) => (each.file_id === file.file_id ? file : each)) : [...files, file];
}

function isWithin(file: RoomFile, folder: string): boolean {
  return folder === '' ? file.folder !== '' : file.folder.startsWith(`${folder}/`);
}
