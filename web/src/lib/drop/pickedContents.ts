// Picked files and typed texts as the contents that are announced: each file, each folder as a whole, each text.
import type { Picked } from '$lib/files/pickedFiles';
import { contentOfFile, contentOfFolder, contentOfText, type Content } from './transfer/contentTransfer';

const NAME_LETTERS = 60;

/** What came in a folder is that folder; `hollow` are the paths of those with nothing in them. */
export function contentsOf(picked: readonly Picked[], hollow: readonly string[] = []): Content[] {
  const folders = new Map<string, Picked[]>(hollow.map((path) => [path.split('/')[0] ?? '', []]));
  const contents: Content[] = [];
  const hollowIn = (name: string): string[] => hollow.filter((path) => path.startsWith(`${name}/`));
  for (const each of picked) {
    const [folder, ...inside] = each.path.split('/');
    if (folder === undefined || !inside.length) contents.push(contentOfFile(each.file));
    else folders.set(folder, [...(folders.get(folder) ?? []), each]);
  }
  return [
    ...contents,
    ...Array.from(folders, ([name, inside]) => contentOfFolder(name, inside, hollowIn(name))),
  ];
}

/** A text is called by how it begins. */
export function contentOfWords(words: string): Content {
  const [first = ''] = words.trim().split('\n');
  return contentOfText(words, first.length > NAME_LETTERS ? `${first.slice(0, NAME_LETTERS)}…` : first);
}
