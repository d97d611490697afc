/** Whether a link can be followed on this machine only, because its host is the machine itself. */
export function isOnlyHere(link: string): boolean {
  if (!URL.canParse(link)) return false;
  const { hostname } = new URL(link);
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
