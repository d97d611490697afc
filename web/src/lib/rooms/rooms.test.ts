import { describe, expect, it } from 'vitest';
import { deviceKind } from '$lib/shell/deviceKind';
import { groupsOf, joined, partsOf, unreadIn } from './chatMessages';
import { lettersIn, written } from './code';
import { contentsOf, stepsTo, withFile } from './roomFolders';
import type { ChatMessage, RoomFile } from './rooms';
import { longestExtension, timeLeft } from './timeLeft';

describe('the letters of a code', () => {
  it.each([
    ['abcde', 'ABCDE'],
    [' ab-c d.e ', 'ABCDE'],
    ['ABCDEFG', 'ABCDE'],
    ['a1b2', 'AB'],
    ['ＡＢｃｄｅ', 'ABCDE'],
    ['https://satchel.example/join/qwert', 'QWERT'],
    ['Come: https://satchel.example/join/QWERT!', 'QWERT'],
    ['', ''],
  ])('in %j are %s', (text, letters) => expect(lettersIn(text)).toBe(letters));

  const empty = ['', '', '', '', ''];

  it('go on in the next box', () => {
    expect(written(empty, 0, 'A')).toEqual({ boxes: ['A', '', '', '', ''], next: 1 });
    expect(written(['A', '', '', '', ''], 1, 'BC')).toEqual({ boxes: ['A', 'B', 'C', '', ''], next: 3 });
  });

  it('fill every box when they are all there, wherever they were pasted', () => {
    expect(written(['X', 'Y', '', '', ''], 2, 'ABCDE')).toEqual({ boxes: [...'ABCDE'], next: 4 });
  });

  it('never run over the last box', () => {
    expect(written(empty, 4, 'AB')).toEqual({ boxes: ['', '', '', '', 'A'], next: 4 });
  });
});

function file(folder: string, name: string, changes: Partial<RoomFile> = {}): RoomFile {
  return {
    file_id: `${folder}/${name}`,
    name,
    folder,
    size_bytes: 10,
    content_type: 'text/plain',
    sha256: '',
    by: 'ann',
    by_name: 'Ann',
    at: '2026-01-01T00:00:00Z',
    modified_at: null,
    executable: false,
    previewable: 'text',
    picture: null,
    to: null,
    transfer_id: null,
    place: null,
    ...changes,
  };
}

describe('the shelf of a room', () => {
  const files = [
    file('', 'top.txt'),
    file('a', 'one.txt'),
    file('a/b', 'two.txt'),
    file('ab', 'other.txt'),
    file('', 'newer.txt', { at: '2026-01-02T00:00:00Z' }),
  ];

  it('shows at the top what stands there, and a folder for all the rest', () => {
    const { folders, files: here } = contentsOf(files, '');
    expect(here.map(({ name }) => name)).toEqual(['newer.txt', 'top.txt']);
    expect(folders.map(({ path, files, sizeBytes }) => [path, files.length, sizeBytes])).toEqual([
      ['a', 2, 20],
      ['ab', 1, 10],
    ]);
  });

  it('shows in a folder only what is in that one', () => {
    const { folders, files: here } = contentsOf(files, 'a');
    expect(here.map(({ name }) => name)).toEqual(['one.txt']);
    expect(folders.map(({ path, name }) => [path, name])).toEqual([['a/b', 'b']]);
  });

  it('knows the way down to a folder', () => {
    expect(stepsTo('a/b')).toEqual([
      { path: 'a', name: 'a' },
      { path: 'a/b', name: 'b' },
    ]);
    expect(stepsTo('')).toEqual([]);
  });

  it('has every file once, however often it is told of', () => {
    const [first] = files as [RoomFile];
    const again = withFile(files, { ...first, transfer_id: 't' });
    expect(again).toHaveLength(files.length);
    expect(again[0]?.transfer_id).toBe('t');
    expect(withFile(files, file('', 'new.txt'))).toHaveLength(files.length + 1);
  });
});

function message(id: string, minute: number, person = 'ann'): ChatMessage {
  const at = new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
  return { message_id: id, person_id: person, name: person, text: id, at };
}

describe('what was said', () => {
  it('stands there once, in order, whether it was heard or read', () => {
    const heard = [message('c', 3), message('d', 4)];
    const read = [message('a', 1), message('b', 2), message('c', 3)];
    expect(joined(heard, read).map(({ message_id }) => message_id)).toEqual(['a', 'b', 'c', 'd']);
    expect(joined(heard, [message('e', 5)]).map(({ message_id }) => message_id)).toEqual(['c', 'd', 'e']);
    expect(joined(heard, heard)).toEqual(heard);
  });

  it('is new from the one on that was seen last, unless one said it oneself', () => {
    const said = [message('a', 0), message('b', 1), message('c', 2, 'ben'), message('d', 3)];
    expect(unreadIn(said, 'a', 'ben')).toBe(2);
    expect(unreadIn(said, 'd', 'ben')).toBe(0);
    expect(unreadIn(said, undefined, 'ann')).toBe(1);
  });

  it('stands together when nobody else spoke in between, and not too long passed', () => {
    const said = [
      message('a', 0),
      message('b', 1),
      message('c', 2, 'ben'),
      message('d', 3),
      message('e', 20),
    ];
    const groups = groupsOf(said, 'ben');
    expect(groups.map(({ messages, mine }) => [messages.length, mine])).toEqual([
      [2, false],
      [1, true],
      [1, false],
      [1, false],
    ]);
  });
});

describe('links in what was said', () => {
  it.each([
    ['see https://a.example/x?y=1#z now', ['https://a.example/x?y=1#z']],
    ['(https://a.example/wiki/Satchel_(bag))', ['https://a.example/wiki/Satchel_(bag)']],
    ['https://a.example. And http://b.example/!', ['https://a.example', 'http://b.example/']],
    ['看 https://a.example/路。好', ['https://a.example/路']],
    ['javascript:alert(1) data:text/html,x file:///etc/passwd', []],
    ['https://user:secret@a.example/', []],
    ['https://', []],
    ['nothing here', []],
  ])('in %j are %j', (text, links) => {
    const parts = partsOf(text);
    expect(parts.filter(({ href }) => href).map((part) => part.text)).toEqual(links);
    expect(parts.map((part) => part.text).join('')).toBe(text);
  });
});

describe('the time that a room has left', () => {
  const now = Date.UTC(2026, 0, 1);
  const inMinutes = (minutes: number) => new Date(now + minutes * 60_000).toISOString();

  it.each([
    [120, 7200, false],
    [9, 540, true],
    [-1, 0, true],
  ])('%i minutes before its end', (minutes, seconds, ending) => {
    expect(timeLeft(inMinutes(minutes), now)).toEqual({ seconds, ending });
  });

  it('is never longer than a week from now', () => {
    expect(longestExtension(inMinutes(60), 24, now)).toBe(inMinutes(25 * 60));
    expect(longestExtension(inMinutes(6.5 * 24 * 60), 24, now)).toBe(inMinutes(7 * 24 * 60));
  });
});

describe('the kind of a device', () => {
  it.each([
    ['Firefox on Android', 'phone'],
    ['Safari on iPhone', 'phone'],
    ['Safari on iPad', 'tablet'],
    ['Chrome on Windows', 'computer'],
    ['satchel command line', 'terminal'],
    ['', 'computer'],
  ])('%j is a %s', (device, kind) => expect(deviceKind(device)).toBe(kind));
});
