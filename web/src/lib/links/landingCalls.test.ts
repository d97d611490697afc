import { describe, expect, it } from 'vitest';
import { contentPath, previewPath } from '$lib/files/entries';
import {
  asOneOfAll,
  entryOf,
  folderOf,
  isDeadEnd,
  isHeldBack,
  isViewable,
  type Landing,
  type LinkedFile,
} from './landingCalls';

const FILE: LinkedFile = {
  file_id: 'f1',
  path: 'Parts/Strings/viola.txt',
  name: 'viola.txt',
  size_bytes: 8,
  sha256: '',
  content_type: 'text/plain',
  modified_at: null,
  executable: false,
  preview: 'text',
  picture: null,
  photo: null,
};

const LANDING: Landing = {
  kind: 'folder',
  name: 'Parts',
  size_bytes: 8,
  files: 1,
  content_type: null,
  note: '',
  shared_by: 'Ann',
  needs_password: false,
  expires_at: null,
  downloads_left: null,
  max_bytes: null,
  may_add: false,
  entered: true,
  listing: null,
};

describe('a file that a link leads to', () => {
  it('has its bytes below the link, and opens them with the pass', () => {
    const entry = entryOf('t0', 'p+/=', LANDING, FILE);
    expect(contentPath(entry)).toBe('/api/v1/open/t0/files/f1/content?pass=p%2B%2F%3D');
    expect(previewPath(entry)).toBe('/api/v1/open/t0/files/f1/preview?pass=p%2B%2F%3D');
  });

  it('is the link itself if that leads to one file', () => {
    expect(contentPath(entryOf('t0', 'p', { ...LANDING, kind: 'file' }, FILE))).toBe(
      '/api/v1/open/t0/content?pass=p',
    );
  });

  it('says when it is taken with all others', () => {
    const path = '/api/v1/open/t0/files/f1/content';
    expect(contentPath(asOneOfAll(entryOf('t0', 'p', LANDING, FILE)))).toBe(`${path}?pass=p&whole=true`);
    expect(contentPath(asOneOfAll(entryOf('t0', '', LANDING, FILE)))).toBe(`${path}?whole=true`);
  });

  it('stands in the folder that its path names', () => {
    expect(folderOf(FILE)).toBe('Parts / Strings');
    expect(folderOf({ ...FILE, path: 'viola.txt' })).toBe('');
  });
});

describe('what a browser can likely show', () => {
  it.each(['image/png', 'audio/flac', 'video/mp4', 'text/plain', 'application/pdf'])('is %s', (type) =>
    expect(isViewable(type)).toBe(true),
  );
  it.each(['application/zip', 'application/octet-stream', '', null])('is not %s', (type) =>
    expect(isViewable(type)).toBe(false),
  );
});

describe('what can be downloaded only so often', () => {
  const limited: Landing = { ...LANDING, downloads_left: 1 };
  it('has no preview', () => {
    expect(isHeldBack(limited)).toBe(true);
    expect(isHeldBack({ ...limited, kind: 'file', content_type: 'image/png' })).toBe(true);
  });
  it('has none to miss if a browser could not show it, or if there is no limit', () => {
    expect(isHeldBack({ ...limited, kind: 'file', content_type: 'application/zip' })).toBe(false);
    expect(isHeldBack(LANDING)).toBe(false);
  });
});

describe('a dead end', () => {
  it('is a state of the link', () => expect(isDeadEnd('link-paused')).toBe(true));
  it.each(['link-password-wrong', 'too-many', undefined])('is not %s', (slug) =>
    expect(isDeadEnd(slug)).toBe(false),
  );
});
