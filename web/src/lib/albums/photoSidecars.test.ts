import { describe, expect, it } from 'vitest';
import { shortTakeout, shortXmp, sortPicked } from './photoSidecars';
import { takeoutFor } from './takeoutNames';

const TAKEOUT = JSON.stringify({
  title: 'IMG_1.JPG',
  photoTakenTime: { timestamp: '1721030400', formatted: 'long ago' },
  geoData: { latitude: 43.3, longitude: 5.4, altitude: 0, latitudeSpan: 0 },
  url: 'https://photos.example.org/'.padEnd(5000, 'x'),
});

describe('the JSON of Google Takeout', () => {
  it.each([
    ['IMG_1.JPG', 'IMG_1.JPG.json'],
    ['IMG_1.JPG', 'IMG_1.JPG.supplemental-metadata.json'],
    ['IMG_1.JPG', 'IMG_1.JPG.supplemental-me.json'],
    ['IMG_1(2).JPG', 'IMG_1.JPG(2).json'],
    ['IMG_1(2).JPG', 'IMG_1.JPG.supplemental-metadata(2).json'],
    ['IMG_1-edited.JPG', 'IMG_1.JPG.supplemental-metadata.json'],
    ['IMG_1.MOV', 'IMG_1.HEIC.json'],
    [`${'n'.repeat(60)}.jpg`, `${'n'.repeat(46)}.json`],
  ])('of %s is %s', (photo, json) => {
    expect(takeoutFor(photo, new Set(['other.json', json]))).toBe(json);
  });

  it('of one photo is not taken for another', () => {
    expect(takeoutFor('IMG_1.JPG', new Set(['IMG_10.JPG.json', 'IMG_1.JPG(1).json']))).toBeUndefined();
  });

  it('is sent without what nobody needs, and only if it is one', () => {
    expect(JSON.parse(shortTakeout(TAKEOUT))).toEqual({
      title: 'IMG_1.JPG',
      description: '',
      photoTakenTime: { timestamp: '1721030400' },
      geoData: { latitude: 43.3, longitude: 5.4, altitude: 0 },
      favorited: false,
    });
    expect([shortTakeout('{"a": 1}'), shortTakeout('no json'), shortTakeout('null')]).toEqual(['', '', '']);
  });
});

describe('an XMP packet', () => {
  it('is sent as it is, or with what matters if it is long', () => {
    expect(shortXmp('<a>\n  b</a>')).toBe('<a> b</a>');
    const long = shortXmp(
      `<rdf:Description exif:DateTimeOriginal="2024-07-15T10:00:00" crs:Look="${'x'.repeat(9000)}">` +
        '<dc:description><rdf:Alt><rdf:li xml:lang="x-default">The sea</rdf:li></rdf:Alt></dc:description>',
    );
    expect(long).toContain('exif:DateTimeOriginal="2024-07-15T10:00:00"');
    expect(long).toContain('>The sea<');
    expect(long.length).toBeLessThan(1000);
  });
});

describe('picked files', () => {
  it('are photos, sidecars of photos, and others', async () => {
    const names = { 'a.jpg': 'x', 'a.jpg.json': TAKEOUT, 'A.XMP': '<x/>', 'b.json': '{}', 'notes.txt': 'n' };
    const picked = Object.entries(names).map(([name, text]) => ({
      file: new File([text], name),
      path: `sea/${name}`,
    }));
    const { medias, sidecars, others } = await sortPicked(picked);
    expect(medias.map(({ path }) => path)).toEqual(['sea/a.jpg']);
    expect(medias[0]?.details?.xmp).toBe('<x/>');
    expect(sidecars.map(({ file }) => file.name)).toEqual(['a.jpg.json', 'A.XMP']);
    expect(others.map(({ file }) => file.name)).toEqual(['b.json', 'notes.txt']);
  });
});
