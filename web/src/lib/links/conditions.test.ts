import { describe, expect, it } from 'vitest';
import type { LinkView } from '$lib/api/links';
import { changeOf, conditionsOf, extended, newLink, noConditions } from './conditions';
import { embedding, renewed } from './linkDisplay';
import { endsSoon } from './states';

const LINK: LinkView = {
  link_id: 'l1',
  token: 't'.repeat(22),
  address: 'https://satchel.example/l/t',
  thing: { kind: 'file', id: 'f1', name: 'plan.pdf', is_there: true },
  name: '',
  note: 'For you',
  has_password: true,
  starts_at: null,
  alias: null,
  expires_at: '2030-05-01T10:00:00.000Z',
  downloads_limit: 3,
  downloads_used: 1,
  downloads_open: 0,
  max_bytes: null,
  received_bytes: 0,
  may_add: false,
  state: 'active',
  created_at: '2030-04-01T10:00:00.000Z',
  badge_address: null,
  opens: 2,
  people: 2,
  downloads: 1,
  last_at: null,
  previews: 0,
};

describe('a new link', () => {
  it('has no conditions unless somebody wants some', () => {
    expect(newLink('file', 'f1', noConditions())).toEqual({
      thing: { kind: 'file', id: 'f1' },
      name: '',
      note: '',
      password: null,
      expires_at: null,
      starts_at: null,
      alias: '',
      downloads: null,
      max_bytes: null,
    });
  });

  it('has those that fit what it leads to', () => {
    const wanted = { ...noConditions(), downloads: '5', megabytes: '1.5' };
    expect(newLink('folder', 'f', wanted)).toMatchObject({ downloads: 5, max_bytes: null });
    expect(newLink('request', 'f', wanted)).toMatchObject({ downloads: null, max_bytes: 1_500_000 });
    expect(newLink('room', 'r', wanted)).toMatchObject({ downloads: null, max_bytes: null });
  });

  it('lasts until the end of the day that was chosen', () => {
    const { expires_at } = newLink('file', 'f', { ...noConditions(), term: 'day', day: '2030-05-01' });
    expect(new Date(String(expires_at)).getHours()).toBe(23);
  });
});

describe('a change', () => {
  it('of nothing says nothing', () => expect(changeOf(LINK, conditionsOf(LINK))).toEqual({}));

  it('says only what is different, and null for what shall be no more', () => {
    const wanted = { ...conditionsOf(LINK), note: '', downloads: '', term: 'never' as const };
    expect(changeOf(LINK, wanted)).toEqual({ note: '', downloads: null, expires_at: null });
  });

  it('moves the opening, and gives a word for the address', () => {
    const same = conditionsOf({ ...LINK, starts_at: '2030-04-20T08:30:00.000Z', alias: 'trip' });
    expect(changeOf({ ...LINK, starts_at: '2030-04-20T08:30:00.000Z', alias: 'trip' }, same)).toEqual({});
    const wanted = { ...same, start: '', alias: 'beach' };
    expect(changeOf({ ...LINK, starts_at: '2030-04-20T08:30:00.000Z', alias: 'trip' }, wanted)).toEqual({
      starts_at: null,
      alias: 'beach',
    });
  });

  it('gives another password, or takes the old one away', () => {
    const same = conditionsOf(LINK);
    expect(changeOf(LINK, { ...same, password: 'new one' })).toEqual({ password: 'new one' });
    expect(changeOf(LINK, { ...same, passwordGone: true })).toEqual({ password: null });
  });
});

describe('an extension', () => {
  const END = Date.parse(LINK.expires_at ?? '');

  it('adds to what is left', () => {
    expect(extended(LINK, 7, END - 1000)).toBe('2030-05-08T10:00:00.000Z');
  });

  it('counts from now on once it is over', () => {
    expect(extended(LINK, 7, END + 3_600_000)).toBe('2030-05-08T11:00:00.000Z');
  });
});

describe('the line that shows a counter', () => {
  it('stays one element whatever the link is called', () => {
    expect(embedding('https://s.example/b', 'a "b" <c> & d')).toBe(
      '<img src="https://s.example/b" alt="a &quot;b&quot; &lt;c> &amp; d">',
    );
  });
});

describe('a link whose end is near', () => {
  const END = Date.parse(LINK.expires_at ?? '');
  const DAY_MS = 86_400_000;

  it('is one with days left, or none', () => {
    expect(endsSoon(LINK, END - 2 * DAY_MS)).toBe(true);
    expect(endsSoon({ ...LINK, state: 'expired' }, END + DAY_MS)).toBe(true);
  });

  it('is none that lasts, or that more time would not help', () => {
    expect(endsSoon(LINK, END - 4 * DAY_MS)).toBe(false);
    expect(endsSoon({ ...LINK, expires_at: null }, END)).toBe(false);
    expect(endsSoon({ ...LINK, state: 'revoked' }, END)).toBe(false);
  });
});

describe('a list of links', () => {
  it('keeps its order when some are known anew, and gets none that it had not', () => {
    const other = { ...LINK, link_id: 'l2' };
    const fresh = [
      { ...other, opens: 9 },
      { ...LINK, link_id: 'l3' },
    ];
    expect(renewed([LINK, other], fresh).map(({ link_id, opens }) => [link_id, opens])).toEqual([
      ['l1', 2],
      ['l2', 9],
    ]);
  });
});
