// The icon of a content type.
import { File, FileArchive, FileAudio, FileImage, FileText, FileVideo } from '@lucide/svelte';
import type { Component } from 'svelte';

type Icon = Component<{ size?: number; 'aria-hidden'?: 'true' }>;

const KINDS: [RegExp, Icon][] = [
  [/^image\//, FileImage],
  [/^audio\//, FileAudio],
  [/^video\//, FileVideo],
  [/zip|tar|compressed|archive/, FileArchive],
  [/^text\/|pdf|document|json/, FileText],
];

export function iconOf(contentType: string): Icon {
  return KINDS.find(([pattern]) => pattern.test(contentType))?.[1] ?? File;
}
