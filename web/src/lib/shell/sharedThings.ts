// What other apps share with the installed app: the service worker keeps it until a page has passed it on.

/** The browser posts it here. Without a service worker the server answers. */
export const SHARE_TARGET = '/share-target';
export const SHARED_CACHE = 'satchel-shared';
const FORGOTTEN_AFTER_MS = 24 * 60 * 60 * 1000;

type About = { text: string; files: number; at: number };
export type Shared = { text: string; files: File[] };

/** Keep what a form of the system's brings, and lead to the page that asks where it should go. */
export async function receiveShared(request: Request): Promise<Response> {
  const id = crypto.randomUUID();
  try {
    const form = await request.formData();
    const files = form
      .getAll('files')
      .filter((each): each is File => each instanceof File && each.name !== '');
    const cache = await caches.open(SHARED_CACHE);
    await forgetOld(cache);
    // As they are, from the disk to the disk: never as a whole in memory.
    for (const [place, file] of files.entries()) {
      const headers = { 'content-type': file.type, 'x-name': encodeURIComponent(file.name) };
      await cache.put(addressOf(id, place), new Response(file, { headers }));
    }
    const about: About = { text: joined(form), files: files.length, at: Date.now() };
    await cache.put(addressOf(id), new Response(JSON.stringify(about)));
  } catch {
    return Response.redirect('/share?problem=shared-lost', 303);
  }
  return Response.redirect(`/share?id=${id}`, 303);
}

/** Undefined when it was passed on already, or a day ago. */
export async function readShared(id: string): Promise<Shared | undefined> {
  const cache = await caches.open(SHARED_CACHE);
  const told = await cache.match(addressOf(id));
  if (!told) return undefined;
  const about = (await told.json()) as About;
  const files: File[] = [];
  for (let place = 0; place < about.files; place += 1) {
    const kept = await cache.match(addressOf(id, place));
    if (!kept) continue;
    const name = decodeURIComponent(kept.headers.get('x-name') ?? '');
    const type = kept.headers.get('content-type') ?? '';
    files.push(new File([await kept.blob()], name, { type }));
  }
  return { text: about.text, files };
}

/** It has been passed on. */
export async function forgetShared(id: string): Promise<void> {
  const cache = await caches.open(SHARED_CACHE);
  const own = (await cache.keys()).filter(({ url }) => new URL(url).pathname.startsWith(addressOf(id)));
  await Promise.all(own.map((each) => cache.delete(each)));
}

async function forgetOld(cache: Cache): Promise<void> {
  for (const { url } of await cache.keys()) {
    const [, id, place] = /\/([\w-]+?)(?:\/(\d+))?$/.exec(new URL(url).pathname) ?? [];
    if (!id || place !== undefined) continue;
    const told = await cache.match(url);
    const { at } = (await told?.json()) as About;
    if (Date.now() - at > FORGOTTEN_AFTER_MS) await forgetShared(id);
  }
}

/** Apps put the address of a page into any of the three fields, and some into two. */
export function joined(form: FormData): string {
  const lines: string[] = [];
  for (const name of ['title', 'text', 'url']) {
    const said = fieldOf(form, name).trim();
    if (said && !lines.some((line) => line.includes(said))) lines.push(said);
  }
  return lines.join('\n');
}

function fieldOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

function addressOf(id: string, place?: number): string {
  return place === undefined ? `${SHARE_TARGET}/${id}` : `${SHARE_TARGET}/${id}/${place}`;
}

/** A text as a file with the name of its first words. */
export function fileOfText(text: string, otherwise: string): File {
  const [first = ''] = text.split('\n');
  const name = first
    .replace(/[\p{C}\\/:*?"<>|]+/gu, ' ')
    .trim()
    .slice(0, 60)
    .trim();
  return new File([text], `${name || otherwise}.txt`, { type: 'text/plain' });
}
