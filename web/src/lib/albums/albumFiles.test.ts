import { afterEach, describe, expect, it, vi } from 'vitest';
import { apart, photosAsFiles } from './albumFiles';
import { contentPath, type Photo } from './photo';

describe('names of the photos of an album in one folder', () => {
  it('are told apart whatever the case', () => {
    const names = new Set<string>();
    const given = [
      'IMG_1.JPG',
      'img_1.jpg',
      'IMG_1.JPG',
      'IMG_1 (2).JPG',
      'film',
      'film',
      '.hidden',
      '.hidden',
    ];
    expect(given.map((name) => apart(name, names))).toEqual([
      'IMG_1.JPG',
      'img_1 (2).jpg',
      'IMG_1 (3).JPG',
      'IMG_1 (2) (2).JPG',
      'film',
      'film (2)',
      '.hidden',
      '.hidden (2)',
    ]);
  });
});

describe('photos of an album as files', () => {
  afterEach(() => vi.unstubAllGlobals());
  const photos = ['sea', 'film', 'home'].map((id) => ({ id, owner: 'ann', time: '' }) as Photo);

  /** A server that answers a letter for each photo; the film does not end, or is said to have so many bytes. */
  function serve(filmBytes?: string): { asked: string[]; ended: unknown[] } {
    const [asked, ended]: [string[], unknown[]] = [[], []];
    const film = contentPath({ id: 'film', owner: 'ann' } as Photo);
    vi.stubGlobal('fetch', (address: string, { signal }: RequestInit) => {
      asked.push(address);
      if (!address.startsWith(film)) return Promise.resolve(new Response('a'));
      const body = new ReadableStream({
        start(out) {
          out.enqueue(new Uint8Array([65]));
          signal?.addEventListener('abort', () => {
            ended.push('stopped');
            out.error(signal.reason);
          });
        },
        cancel: () => void ended.push('cancelled'),
      });
      return Promise.resolve(
        new Response(body, { headers: filmBytes ? { 'content-length': filmBytes } : {} }),
      );
    });
    return { asked, ended };
  }

  it('are no longer fetched once nobody wants them, not even the one under way', async () => {
    const { asked, ended } = serve();
    const wanted = new AbortController();
    const gathering = photosAsFiles(photos, () => undefined, wanted.signal);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    wanted.abort();
    expect(await gathering).toHaveLength(1);
    expect(ended).toEqual(['stopped']);
    expect(asked).toHaveLength(2);
  });

  it('are refused by what the server says of their size, before they are loaded', async () => {
    const { asked, ended } = serve('10000000000');
    const gathering = photosAsFiles(photos, () => undefined, new AbortController().signal);
    await expect(gathering).rejects.toMatchObject({ slug: 'file-too-large' });
    expect(ended).toEqual(['cancelled']);
    expect(asked).toHaveLength(2);
  });
});
