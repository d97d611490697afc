// Parts of the words of a language, made by web/chunks.ts.
declare module '*.json?part=first' {
  const words: Record<string, string | { other: string }>;
  export default words;
}
declare module '*.json?part=link' {
  const words: Record<string, string | { other: string }>;
  export default words;
}
declare module '*.json?part=door' {
  const words: Record<string, string | { other: string }>;
  export default words;
}
