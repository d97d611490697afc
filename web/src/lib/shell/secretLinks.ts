// Links with a secret behind the `#`, where no server and no log sees it.

/** With the address of whom it is for, if it is for one. */
export function invitationLink(server: string, token: string, email: string | null = null): string {
  return `${server}/sign-up#${new URLSearchParams({ invitation: token, ...(email && { email }) })}`;
}

export function passwordResetLink(server: string, token: string): string {
  return `${server}/reset#token=${token}`;
}

export function secretIn(url: URL, name: 'invitation' | 'token' | 'email'): string {
  return new URLSearchParams(url.hash.slice(1)).get(name) ?? '';
}
