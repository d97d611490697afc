// Renews an expired session. A module of its own, so that the sign-in page does not load it.
import { ask, http } from './client';

/** Frames, videos and downloads cannot renew an expired session; this request, sent before them, does. */
export async function renewSession(): Promise<void> {
  await ask(http.GET('/api/v1/whoami'));
}
