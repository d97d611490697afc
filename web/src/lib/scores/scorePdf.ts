// A score as a file of this device, for ways of passing on that take nothing but files.
import { renewSession } from '$lib/api/sessionRenewal';
import { fetchOne } from '$lib/files/savedOneByOne';
import { exportPath } from './itemPath';
import type { Score } from './scoreCalls';

/** Undefined while it has no pages. Marks stay here: some may be nobody else's business. */
export function pdfOf({ score_id, title, pages }: Score): (() => Promise<File[]>) | undefined {
  if (!pages.length) return undefined;
  const address = exportPath(score_id, { part: undefined, withMarks: false });
  return async () => {
    await renewSession();
    return [await fetchOne({ address, name: `${title}.pdf`, type: 'application/pdf' })];
  };
}
