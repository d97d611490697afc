// What is searched for, in the address of the page and back.
import type { PhotoSearch } from './photoCalls';

export function searchIn(address: URLSearchParams): PhotoSearch {
  const said = (name: string): string => address.get(name)?.trim() ?? '';
  const type = said('type');
  return {
    ...(said('q') && { q: said('q') }),
    ...(said('from') && { from: said('from') }),
    ...(said('to') && { to: said('to') }),
    ...((type === 'IMAGE' || type === 'VIDEO') && { type }),
    ...(said('favourite') && { favourite: true }),
    ...(said('near') && { near: said('near') }),
  };
}

export function isEmpty(search: PhotoSearch): boolean {
  return !Object.keys(search).length;
}

/** The address of the page with these results. */
export function searchPath(search: Record<string, string | boolean | undefined>): string {
  const said = Object.entries(search).filter(([, value]) => value);
  return `/photos/search?${new URLSearchParams(said.map(([name, value]) => [name, String(value)]))}`;
}
