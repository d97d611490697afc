// Sharing of photos: what a page offers to the grids and viewers on it.
import { getContext, setContext } from 'svelte';
import type { Photo } from './photo';

export type SharePhotos = (photos: readonly Photo[]) => unknown;

/** As many as one link can lead to. */
export const MOST_SHARED = 500;
const KEY = Symbol('how photos are shared');

export function offerSharing(share: SharePhotos): void {
  setContext(KEY, share);
}

/** Undefined where they cannot be shared. */
export function sharingOffered(): SharePhotos | undefined {
  return getContext<SharePhotos | undefined>(KEY);
}
