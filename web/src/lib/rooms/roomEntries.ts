// Files and folders of a room as entries, so that a room is shown in the same way as the shelf.
import type { Entry } from '$lib/files/entries';
import { contentsOf } from './roomFolders';
import { filePath, type RoomFile } from './rooms';

/** What the room knows of an entry beyond what a shelf does. */
export type RoomEntry = Entry & { files: RoomFile[] };

export function entriesIn(roomId: string, all: readonly RoomFile[], folder: string): RoomEntry[] {
  const { folders, files } = contentsOf(all, folder);
  return [
    ...folders.map(({ path, name, files, sizeBytes }) => ({
      ...NOTHING,
      kind: 'folder' as const,
      id: `folder:${path}`,
      name,
      folder_id: folder,
      size_bytes: sizeBytes,
      created_at: files.reduce((latest, { at }) => (at > latest ? at : latest), ''),
      files,
    })),
    ...files.map((file) => fileEntry(roomId, file)),
  ];
}

export function fileEntry(roomId: string, file: RoomFile): RoomEntry {
  const { file_id, name, folder, size_bytes, content_type, sha256, at, previewable, picture } = file;
  return {
    kind: 'file',
    id: file_id,
    name,
    folder_id: folder,
    size_bytes,
    content_type,
    sha256,
    created_at: at,
    modified_at: file.modified_at,
    executable: file.executable,
    received: false,
    expires_at: null,
    previewable,
    picture,
    at: filePath(roomId, file_id),
    files: [file],
  };
}

/** Where a folder leads to. */
export function pathOf({ id }: RoomEntry): string {
  return id.slice('folder:'.length);
}

const NOTHING = {
  content_type: null,
  sha256: null,
  modified_at: null,
  executable: false,
  received: false,
  expires_at: null,
  previewable: null,
  picture: null,
};
