// Starts a download of the browser's own, which shows its progress.

/** Without `name`, the server's name is used. */
export function saveFrom(address: string, name = ''): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
