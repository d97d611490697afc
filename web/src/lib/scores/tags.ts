// Tags as people type them: words between commas, each once.

export function splitTags(text: string): string[] {
  const tags = text
    .split(/[,、，;]/)
    .map((tag) => tag.trim())
    .filter(Boolean);
  return [...new Set(tags)];
}
