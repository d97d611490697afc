// The addresses of pages that show the shelf.

/** The folder that everything else is in. */
export const ROOT = 'root';

export function folderAddress(folder: string): string {
  return folder === ROOT ? '/shelf' : `/shelf/${folder}`;
}

/** This address with one of its questions changed: what is searched for, or which file or folder is looked at. */
export function addressWith(url: URL, name: 'q' | 'view' | 'folder', value: string): string {
  const query = new URLSearchParams(url.searchParams);
  if (value) query.set(name, value);
  else query.delete(name);
  return `${url.pathname}${query.size ? `?${query}` : ''}`;
}
