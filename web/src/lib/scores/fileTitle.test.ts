import { describe, expect, it } from 'vitest';
import { bundled, guessed, sourceOf } from './fileTitle';

function file(path: string): { name: string; path: string } {
  return { name: path.split('/').at(-1) ?? '', path };
}

describe('a name of a file', () => {
  it.each([
    ['Bach - Air on the G String.pdf', 'Air on the G String', 'Bach'],
    ['01_Bach_-_Air.pdf', 'Air', 'Bach'],
    ['IMSLP12345-PMLP01458-Clair_de_lune.pdf', 'Clair de lune', ''],
    ['3. Sarabande.mxl', 'Sarabande', ''],
    ['4 Seasons.pdf', '4 Seasons', ''],
    ['04 Allegro.pdf', 'Allegro', ''],
    ['1812.pdf', '1812', ''],
    ['久石譲 - Summer.pdf', 'Summer', '久石譲'],
    ['Mozart – Requiem – Lacrimosa.pdf', 'Requiem – Lacrimosa', 'Mozart'],
    ['望春風.musicxml', '望春風', ''],
  ])('%s is a title and perhaps a composer', (name, title, composer) =>
    expect(guessed(name)).toEqual({ title, composer }),
  );

  it('says what kind of music is in it', () => {
    expect(['a.PNG', 'b.jpeg', 'c.pdf', 'd.mxl', 'e.mei', 'f.abc', 'g.txt', 'h'].map(sourceOf)).toEqual([
      'picture',
      'picture',
      'pdf',
      'notation',
      'notation',
      'notation',
      undefined,
      undefined,
    ]);
  });
});

describe('many files at once', () => {
  it('are a score each, but the pictures of a folder are the pages of one', () => {
    const bundles = bundled(
      [
        'Choir/Faure - Cantique/10.png',
        'Choir/Faure - Cantique/9.png',
        'Choir/Locus iste.pdf',
        'notes.txt',
      ].map(file),
    );
    expect(
      bundles.map(({ title, composer, items }) => [title, composer, items.map(({ name }) => name)]),
    ).toEqual([
      ['Cantique', 'Faure', ['9.png', '10.png']],
      ['Locus iste', '', ['Locus iste.pdf']],
    ]);
  });

  it('have no title if a camera named them', () => {
    expect(bundled(['IMG_2041.jpg', 'IMG_2042.jpg'].map(file))).toMatchObject([{ title: '' }]);
    expect(bundled(['Gavotte-1.jpg', 'Gavotte-2.jpg'].map(file))).toMatchObject([{ title: 'Gavotte' }]);
    expect(bundled(['Gavotte page 1.jpg', 'Gavotte page 2.jpg'].map(file))).toMatchObject([
      { title: 'Gavotte' },
    ]);
  });
});
