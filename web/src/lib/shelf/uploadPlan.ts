// What becomes of picked files that are on the shelf already: the same are skipped, the others are asked about.
import { beside, digest } from '$lib/files/digest';
import { readFolder, type Cursor, type Entry } from '$lib/files/entries';
import type { Picked } from '$lib/files/pickedFiles';

/** A picked file, and the one with other contents in whose place it could stand. */
export type Clash = { picked: Picked; entry: Entry };
export type UploadPlan = { fresh: Picked[]; same: Picked[]; changed: Clash[] };
export type Choice = 'replace' | 'both' | 'skip';

/** How an upload says which file it replaces, and which contents of it we have seen. */
export function replacing({ picked, entry }: Clash): Picked {
  const details = { ...picked.details, replaces: entry.id, replacedSha256: entry.sha256 ?? '' };
  return { ...picked, details };
}

/** The files to send after somebody has chosen once for all. */
export function chosen({ fresh, changed }: UploadPlan, choice: Choice): Picked[] {
  if (choice === 'skip') return fresh;
  return [...fresh, ...changed.map((clash) => (choice === 'replace' ? replacing(clash) : clash.picked))];
}

/** Compares with what is in the folder, exactly: by name, case included, and by contents where the sizes agree. */
export async function planOf(picked: readonly Picked[], folder: string): Promise<UploadPlan> {
  const places = new Places(folder);
  const plan: UploadPlan = { fresh: [], same: [], changed: [] };
  const alike: Clash[] = [];
  for (const each of picked) {
    const entry = await places.at(each.path || each.file.name);
    if (entry?.kind !== 'file') plan.fresh.push(each);
    else if (entry.size_bytes === each.file.size) alike.push({ picked: each, entry });
    else plan.changed.push({ picked: each, entry });
  }
  if (alike.length) await compare(alike, plan);
  return plan;
}

async function compare(alike: readonly Clash[], plan: UploadPlan): Promise<void> {
  await beside(async (worker) => {
    for (const clash of alike) {
      const { file } = clash.picked;
      // A file that cannot be read is no other; sending it will say what is wrong.
      const found = await digest(
        worker,
        { file, challenge: '' },
        () => undefined,
        new AbortController().signal,
      ).catch(() => undefined);
      if (found?.sha256 === clash.entry.sha256) plan.same.push(clash.picked);
      else if (found) plan.changed.push(clash);
      else plan.fresh.push(clash.picked);
    }
  });
}

/** The folder as one gesture finds it: each folder below it is read once. */
class Places {
  #top: string;
  #read = new Map<string, Promise<Map<string, Entry>>>();

  constructor(top: string) {
    this.#top = top;
  }

  async at(path: string): Promise<Entry | undefined> {
    const names = path.split('/').filter(Boolean);
    let [folder, found]: [string, Entry | undefined] = [this.#top, undefined];
    for (const name of names) {
      if (found && found.kind !== 'folder') return undefined;
      found = (await this.#entries(folder)).get(name);
      if (!found) return undefined;
      folder = found.id;
    }
    return found;
  }

  #entries(folder: string): Promise<Map<string, Entry>> {
    const known = this.#read.get(folder) ?? entriesOf(folder);
    this.#read.set(folder, known);
    return known;
  }
}

async function entriesOf(folder: string): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>();
  let cursor: Cursor = null;
  do {
    const page = await readFolder(folder, 'name', cursor, MOST_ON_A_PAGE);
    for (const entry of page.entries) found.set(entry.name, entry);
    cursor = page.cursor;
  } while (cursor !== null);
  return found;
}

const MOST_ON_A_PAGE = 1000;
