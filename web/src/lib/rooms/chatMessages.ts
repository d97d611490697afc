// Chat messages: merged in order, grouped by speaker, and split into text and links.
import type { ChatMessage } from './rooms';

export type Part = { text: string; href?: string };
export type MessageGroup = { first: ChatMessage; messages: ChatMessage[]; mine: boolean };

// Messages further apart than this begin a new group.
const SAME_GROUP_MS = 5 * 60_000;
const LINK = /\bhttps?:\/\/[^\s<>"'“”„«»、。，！？；：「」『』（）【】]+/gi;
const NOT_OF_THE_LINK = /[.,;:!?…)\]}*_]+$/;

/** Both in one, each message once; ids sort as the server has put them in order. */
export function joined(known: readonly ChatMessage[], more: readonly ChatMessage[]): ChatMessage[] {
  const last = known.at(-1);
  const fresh = more.filter(({ message_id }) => !known.some((each) => each.message_id === message_id));
  if (!fresh.length) return [...known];
  const all = [...known, ...fresh];
  // News come one by one and last; sorting is for what is read again.
  if (!last || fresh.every(({ at }) => at >= last.at)) return all;
  return all.sort((one, other) => one.at.localeCompare(other.at));
}

/** How many of them others have said after the one that was seen last. */
export function unreadIn(
  messages: readonly ChatMessage[],
  lastSeen: string | undefined,
  you: string,
): number {
  const at = messages.findLastIndex(({ message_id }) => message_id === lastSeen);
  return messages.slice(at + 1).filter(({ person_id }) => person_id !== you).length;
}

/** Consecutive messages of one person, with no other in between, form a group. */
export function groupsOf(messages: readonly ChatMessage[], you: string): MessageGroup[] {
  const groups: MessageGroup[] = [];
  for (const message of messages) {
    const group = groups.at(-1);
    const before = group?.messages.at(-1);
    const isSame =
      before?.person_id === message.person_id &&
      Date.parse(message.at) - Date.parse(before.at) < SAME_GROUP_MS;
    if (group && isSame) group.messages.push(message);
    else groups.push({ first: message, messages: [message], mine: message.person_id === you });
  }
  return groups;
}

/** Plain text and links; only addresses of the web become links, whatever else looks like one. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const found of text.matchAll(LINK)) {
    const link = withoutTail(found[0]);
    const href = addressIn(link);
    if (!href) continue;
    if (found.index > end) parts.push({ text: text.slice(end, found.index) });
    parts.push({ text: link, href });
    end = found.index + link.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** The full stop after a link ends the sentence, and a bracket that was opened before it is not its own. */
function withoutTail(link: string): string {
  const bare = link.replace(NOT_OF_THE_LINK, '');
  return link[bare.length] === ')' && bare.includes('(') && !bare.includes(')') ? `${bare})` : bare;
}

function addressIn(link: string): string | undefined {
  try {
    const url = new URL(link);
    // A name before the host is only ever there to deceive.
    return url.username || url.password ? undefined : url.href;
  } catch {
    return undefined;
  }
}
