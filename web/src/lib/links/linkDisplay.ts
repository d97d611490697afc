// How a link that somebody gave is listed, where its figures are, and the HTML that shows its counter on another page.
import type { LinkView } from '$lib/api/links';

/** The same list with what is known anew. */
export function renewed(links: readonly LinkView[], fresh: readonly LinkView[]): LinkView[] {
  const known = new Map(fresh.map((link) => [link.link_id, link]));
  return links.map((link) => known.get(link.link_id) ?? link);
}

/** Where its figures are shown. */
export function figuresAddress({ link_id }: LinkView): string {
  return `/activity/link:${link_id}`;
}

/** What shows the counter of a link on any page. */
export function embedding(badgeAddress: string, label: string): string {
  const quoted = label.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<img src="${badgeAddress}" alt="${quoted}">`;
}
