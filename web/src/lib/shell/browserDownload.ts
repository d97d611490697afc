// Downloads as the browser makes them: it asks where to put the file, and shows how far it is.

/** Without a name, the server's own is taken. */
export function saveFrom(address: string, name = ''): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
