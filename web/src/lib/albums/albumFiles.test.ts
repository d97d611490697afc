import { describe, expect, it } from 'vitest';
import { apart } from './albumFiles';

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
