// Guesses from the names of files: title and composer of each, and which pictures are pages of one score.

export type Guess = { title: string; composer: string };
/** Files that make one score, with what it may be called. */
export type Bundle<Item> = Guess & { items: Item[] };

const NOTATION = /\.(musicxml|mxl|xml|mei|abc)$/i;
const PICTURE = /\.(png|jpe?g)$/i;
const PDF = /\.pdf$/i;
const IMSLP = /^(IMSLP\d+[-_ ]*)?(PMLP\d+[-_ ]*)?/i;
// "01 ", "3. ", "12)" in front of a name are an order; the 4 of "4 Seasons" is not.
const NUMBER = /^(\d{1,3}\s*[.)_-]\s*|0\d{1,2}\s+)(?=\D)/;
const PAGE = /[\s_-]*(\(\d+\)|(page|pg|p|seite|頁|ページ|第)?[\s_.-]*\d{1,4}(頁|ページ)?)$/i;
const CAMERA = /^(img|dsc|dscn|pxl|photo|scan|image|screenshot|save)?[\s_-]*\d*[\s_-]*$/i;

export type Source = 'picture' | 'pdf' | 'notation';

/** What kind of music a file is by its name; undefined for anything else. */
export function sourceOf(name: string): Source | undefined {
  if (PICTURE.test(name)) return 'picture';
  if (PDF.test(name)) return 'pdf';
  return NOTATION.test(name) ? 'notation' : undefined;
}

/** "Bach - Air.pdf" is Bach's Air, and so is "01_Bach_-_Air.pdf". */
export function guessed(name: string): Guess {
  const plain = name.normalize('NFC').replace(/\.[^.]+$/, '');
  const bare = (plain.replace(IMSLP, '').replace(NUMBER, '').trim() || plain).replace(/[\s_]+/g, ' ').trim();
  const [composer, ...rest] = bare.split(/\s+[-–—]\s+/);
  if (!rest.length || !composer) return { title: bare, composer: '' };
  return { title: rest.join(' – '), composer: composer.trim() };
}

/** Each PDF and each notation is a score; pictures of one folder are the pages of one, in the order of their names. */
export function bundled<Item extends { name: string; path: string }>(items: readonly Item[]): Bundle<Item>[] {
  const bundles: Bundle<Item>[] = [];
  const folders = new Map<string, Item[]>();
  for (const item of items) {
    const source = sourceOf(item.name);
    if (!source) continue;
    if (source !== 'picture') bundles.push({ ...guessed(item.name), items: [item] });
    else {
      const folder = item.path.split('/').slice(0, -1).join('/');
      folders.set(folder, [...(folders.get(folder) ?? []), item]);
    }
  }
  for (const [folder, pages] of folders) {
    pages.sort((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }));
    bundles.push({ ...titleOfPages(folder, pages), items: pages });
  }
  return bundles.sort((one, other) => one.title.localeCompare(other.title, undefined, { numeric: true }));
}

/** The folder of photos, or what their names have in common. */
function titleOfPages(folder: string, pages: readonly { name: string }[]): Guess {
  const inside = folder.split('/').at(-1);
  if (inside) return guessed(`${inside}.folder`);
  const first = pages[0]?.name.replace(/\.[^.]+$/, '') ?? '';
  const common = pages.length > 1 ? first.replace(PAGE, '') : first;
  return CAMERA.test(common) ? { title: '', composer: '' } : guessed(`${common}.page`);
}
