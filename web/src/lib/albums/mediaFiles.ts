// Which files are photos or videos; folders of photos hold other files, too.

const EXTENSIONS =
  /\.(jpe?g|png|webp|gif|avif|tiff?|heic|heif|dng|cr[23]|nef|arw|raf|orf|rw2|pef|srw|mp4|mov|m4v|mkv|mts|m2ts|avi|webm|mpe?g|wmv|3gp)$/i;

export function isMedia({ name, type }: { name: string; type: string }): boolean {
  return /^(image|video)\//.test(type) || EXTENSIONS.test(name);
}
