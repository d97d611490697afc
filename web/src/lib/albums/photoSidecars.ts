// The sidecars of picked photos: which belong to which, and what of them goes along with an upload.
import type { Picked } from '$lib/files/pickedFiles';
import { isMedia } from './mediaFiles';
import { takeoutFor } from './takeoutNames';

/** `sidecars` are those that belong to a photo. */
export type SortedFiles = { medias: Picked[]; sidecars: Picked[]; others: Picked[] };

// The server takes 8 KB of metadata with an upload, in base64.
const MOST_XMP_BYTES = 2500;
const MOST_TEXT = 500;
const MOST_FILE_BYTES = 1024 * 1024;
const XMP_FACTS = ['DateTimeOriginal', 'DateCreated', 'CreateDate', 'GPSLatitude', 'GPSLongitude'];

export async function sortPicked(picked: readonly Picked[]): Promise<SortedFiles> {
  const folders = new Map<string, Map<string, Picked>>();
  for (const each of picked) {
    const folder = (each.path || each.file.name).replace(/[^/]*$/, '');
    const files = folders.get(folder) ?? new Map<string, Picked>();
    folders.set(folder, files.set(each.file.name, each));
  }
  const sorted: SortedFiles = { medias: [], sidecars: [], others: [] };
  for (const files of folders.values()) await sortFolder(files, sorted);
  return sorted;
}

async function sortFolder(files: ReadonlyMap<string, Picked>, sorted: SortedFiles): Promise<void> {
  const names = [...files.keys()];
  const jsons = new Set(names.filter((name) => /\.json$/i.test(name)));
  const xmps = new Map(
    names.filter((name) => /\.xmp$/i.test(name)).map((name) => [name.toLowerCase(), name]),
  );
  const used = new Set<string>();
  for (const [name, picked] of files) {
    if (!isMedia(picked.file)) continue;
    const takeout = takeoutFor(name, jsons);
    const xmp =
      xmps.get(`${name}.xmp`.toLowerCase()) ?? xmps.get(`${name.replace(/\.[^.]*$/, '')}.xmp`.toLowerCase());
    const details = {
      takeout: shortTakeout(await textOf(files.get(takeout ?? ''))),
      xmp: shortXmp(await textOf(files.get(xmp ?? ''))),
    };
    for (const sidecar of [details.takeout && takeout, details.xmp && xmp]) if (sidecar) used.add(sidecar);
    sorted.medias.push({ ...picked, details });
  }
  for (const [name, picked] of files) {
    if (isMedia(picked.file)) continue;
    (used.has(name) ? sorted.sidecars : sorted.others).push(picked);
  }
}

async function textOf(picked: Picked | undefined): Promise<string> {
  if (!picked || picked.file.size > MOST_FILE_BYTES) return '';
  // One that cannot be read leaves the photo as it is.
  return picked.file.text().catch(() => '');
}

type Takeout = {
  title?: string;
  description?: string;
  photoTakenTime?: { timestamp?: string | number };
  geoData?: Record<string, number>;
  favorited?: boolean;
};

/** Only what the server understands of it; nothing, if it is another JSON. */
export function shortTakeout(text: string): string {
  let read: Takeout | null;
  try {
    read = JSON.parse(text) as Takeout | null;
  } catch {
    return '';
  }
  if (typeof read !== 'object' || !read?.photoTakenTime) return '';
  const { title, description, photoTakenTime, geoData, favorited } = read;
  return JSON.stringify({
    title: String(title ?? '').slice(0, 200),
    description: String(description ?? '').slice(0, MOST_TEXT),
    photoTakenTime: { timestamp: String(photoTakenTime.timestamp ?? '') },
    ...(geoData && {
      geoData: {
        latitude: Number(geoData.latitude ?? 0),
        longitude: Number(geoData.longitude ?? 0),
        altitude: Number(geoData.altitude ?? 0),
      },
    }),
    favorited: favorited === true,
  });
}

/** As it is if it is short, else only when, where and what. */
export function shortXmp(text: string): string {
  const whole = text.replace(/\s+/g, ' ').trim();
  if (new TextEncoder().encode(whole).length <= MOST_XMP_BYTES) return whole;
  const facts = XMP_FACTS.flatMap((name) => {
    const value = new RegExp(
      `\\b(exif|xmp|photoshop):${name}\\s*(?:=\\s*["']([^"']*)["']|>([^<]*)<)`,
      'i',
    ).exec(whole);
    return value ? [`${value[1]}:${name}="${(value[2] ?? value[3] ?? '').slice(0, 100)}"`] : [];
  });
  const description = /<dc:description>.*?<rdf:li[^>]*>([^<]*)</i.exec(whole)?.[1]?.slice(0, MOST_TEXT);
  const said = description
    ? `<dc:description><rdf:Alt><rdf:li xml:lang="x-default">${description}</rdf:li></rdf:Alt></dc:description>`
    : '';
  return (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">' +
    '<rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" ' +
    'xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" ' +
    `${facts.join(' ')}>${said}</rdf:Description></rdf:RDF></x:xmpmeta>`
  );
}
