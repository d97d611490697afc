// Links with a secret behind the `#`, where no server and no log sees it.

export function invitationLink(server: string, token: string): string {
  return `${server}/sign-up#invitation=${token}`;
}

export function passwordResetLink(server: string, token: string): string {
  return `${server}/reset#token=${token}`;
}

export function secretIn(url: URL, name: 'invitation' | 'token'): string {
  return new URLSearchParams(url.hash.slice(1)).get(name) ?? '';
}
