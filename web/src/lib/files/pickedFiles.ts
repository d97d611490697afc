// The files that people pick: from a file dialog, a folder, a drop or the clipboard.

/** A file, its path when it came in a folder, and what else is known of it. */
export type Picked = { file: File; path: string; details?: Readonly<Record<string, string>> };

/** The files, the paths of empty folders, and how many entries could not be opened. */
export type Found = { picked: Picked[]; hollow: string[]; unreadable: number };

export function fromDialog(files: Iterable<File>): Picked[] {
  return Array.from(files, (file) => ({ file, path: file.webkitRelativePath }));
}

/** Browsers empty a drop as soon as its handler returns, so everything is read before the first `await`. */
export async function fromDrop(transfer: DataTransfer): Promise<Found> {
  const taken = Array.from(transfer.items)
    .filter((item) => item.kind === 'file')
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const found: Found = { picked: [], hollow: [], unreadable: 0 };
  for (const { entry, file } of taken) {
    if (entry?.isDirectory) await walk(entry as FileSystemDirectoryEntry, found);
    else if (file) found.picked.push({ file, path: '' });
  }
  return found;
}

/** Screenshots have no name of their own; `called` gives them one. */
export function fromClipboard(transfer: DataTransfer, called: (extension: string) => string): Picked[] {
  return Array.from(transfer.files, (file) => {
    const isScreenshot = /^image\.\w+$/.test(file.name) && file.type.startsWith('image/');
    return { file: isScreenshot ? renamed(file, called(file.name.split('.').at(-1) ?? '')) : file, path: '' };
  });
}

/** Whether something that is dragged over the page can be dropped here. */
export function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') ?? false;
}

export async function walk(folder: FileSystemDirectoryEntry, found: Found): Promise<void> {
  const reader = folder.createReader();
  for (let isFirst = true; ; isFirst = false) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    ).catch(() => undefined);
    if (entries === undefined) found.unreadable += 1;
    else if (isFirst && !entries.length) found.hollow.push(pathOf(folder));
    // Chromium hands out a hundred at a time; none means that these were all.
    if (!entries?.length) return;
    for (const entry of entries) {
      if (entry.isDirectory) await walk(entry as FileSystemDirectoryEntry, found);
      else await open(entry as FileSystemFileEntry, found);
    }
  }
}

async function open(entry: FileSystemFileEntry, found: Found): Promise<void> {
  try {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.picked.push({ file, path: pathOf(entry) });
  } catch {
    found.unreadable += 1;
  }
}

function pathOf({ fullPath }: FileSystemEntry): string {
  return fullPath.replace(/^\//, '');
}

function renamed(file: File, name: string): File {
  return new File([file], name, { type: file.type, lastModified: file.lastModified });
}
