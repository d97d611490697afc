// Which modules and which words go into one file, so that a page asks for few and small ones.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Plugin } from 'vite';

const SRC = resolve(import.meta.dirname, 'src');
const ICONS = resolve(import.meta.dirname, 'node_modules/@lucide/svelte/dist/icons');

/** What pages have in common is told from what the pages that must be light begin with. */
const BEGINNINGS = {
  first: [
    'hooks.client.ts',
    'routes/+layout.ts',
    'routes/+layout.svelte',
    'routes/+error.svelte',
    'routes/(entry)/+layout.svelte',
    'routes/(entry)/sign-in/+page.svelte',
    'routes/(entry)/sign-up/+page.svelte',
    'routes/(entry)/sign-up/+page.ts',
    'routes/(entry)/guest/+page.svelte',
    'routes/(entry)/reset/+page.svelte',
  ],
  link: ['routes/(link)/+layout.ts', 'routes/(link)/+layout.svelte', 'routes/(link)/l/[token]/+page.svelte'],
  door: ['routes/(entry)/join/[code]/+page.svelte', 'routes/(entry)/join/[code]/+page.ts'],
  frame: ['routes/(app)/+layout.ts', 'routes/(app)/+layout.svelte', 'routes/AppFrame.svelte'],
  shelf: ['routes/(app)/shelf/[[folder]]/+page.svelte'],
} as const;
type Beginning = keyof typeof BEGINNINGS;

type Source = { imports: string[]; keys: string[]; starts: string[] };

const IMPORT = /^\s*(?:import|export)\s+(?!type\b)(?:([^'"`;]*?)\s+from\s+)?'([^']+)'/gm;
// As in tools/messages.py: a key, and the fixed start of one that is put together.
const QUOTED = /['"]([a-z][\w-]*(?:\.[\w-]+)+)['"]/g;
const PUT_TOGETHER = /`([a-z][\w-]*(?:\.[\w-]+)*\.)\$\{/g;

/** The pages and layouts of a chunk, all by one import. */
const GROUP = 'virtual:pages/';
const groups = new Map<string, string[]>();

const sources = new Map<string, Source>();
let reached: Record<Beginning, Set<string>> | undefined;

/** Modules of ours by their path, packages by their name, icons as `icon:name`. */
function read(module: string): Source {
  let source = sources.get(module);
  if (source) return source;
  source = { imports: [], keys: [], starts: [] };
  sources.set(module, source);
  if (!module.startsWith(SRC) || module.endsWith('.json')) return source;
  const text = readFileSync(module, 'utf8');
  for (const [, names, from = ''] of text.matchAll(IMPORT))
    source.imports.push(...targets(module, from, names));
  source.keys = [...text.matchAll(QUOTED)].map(([, key = '']) => key);
  source.starts = [...text.matchAll(PUT_TOGETHER)].map(([, start = '']) => start);
  return source;
}

function targets(module: string, from: string, names = ''): string[] {
  if (from === '@lucide/svelte')
    return names
      .replace(/[{}\s]/g, '')
      .split(',')
      .filter(Boolean)
      .map(iconOf);
  const path = from.startsWith('$lib/')
    ? join(SRC, 'lib', from.slice('$lib/'.length))
    : from.startsWith('.') && join(dirname(module), from);
  if (!path) return from.startsWith('$') ? [] : [packageOf(from)];
  return ['', '.ts', '.js'].map((ending) => path + ending).filter((each) => existsSync(each));
}

/** By the name of its file: some icons have several names. */
function iconOf(name: string): string {
  const file = name.replace(/[A-Z]|\d+/g, (part, at: number) => (at ? '-' : '') + part.toLowerCase());
  const names = readFileSync(join(ICONS, `${file}.js`), 'utf8');
  return `icon:${/"\.\/([\w-]+)\.svelte"/.exec(names)?.[1] ?? file}`;
}

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

function closure(beginnings: readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = beginnings.map((path) => join(SRC, path));
  for (let module = open.pop(); module !== undefined; module = open.pop()) {
    if (found.has(module)) continue;
    found.add(module);
    open.push(...read(module).imports);
  }
  return found;
}

function reach(): Record<Beginning, Set<string>> {
  return (reached ??= {
    first: closure(BEGINNINGS.first),
    link: closure(BEGINNINGS.link),
    door: closure(BEGINNINGS.door),
    frame: closure(BEGINNINGS.frame),
    shelf: closure(BEGINNINGS.shelf),
  });
}

/**
 * The file that a module goes into: what the light pages need is sorted by which of them do, all else by its slice. Left
 * to itself, the bundler makes a file of whatever some pages share: a hundred requests for one page.
 */
export function chunkOf(id: string): string | undefined {
  if (id.startsWith(`\0${GROUP}`)) return id.slice(1 + GROUP.length);
  const module = id.split('?')[0] ?? id;
  if (/\/node_modules\/(svelte|@sveltejs\/kit|clsx|esm-env)\//.test(module)) return 'runtime';
  // Each language stays a file of its own.
  if (module.endsWith('.json')) return undefined;
  const node = /\/generated\/client-optimized\/nodes\/\d+\.js$/.test(module);
  const names = node ? routesOf(module) : [nameOf(module)];
  for (const name of names) {
    const light = lightChunkOf(name);
    if (light) return light;
  }
  if (node) return undefined;
  return names[0]?.startsWith('icon:') ? 'icons' : /\/src\/lib\/([a-z]+)\//.exec(module)?.[1];
}

function lightChunkOf(name: string): string | undefined {
  const { first, link, door, frame, shelf } = reach();
  if (first.has(name)) return 'first';
  const inApp = frame.has(name) || shelf.has(name);
  if (link.has(name)) return inApp ? 'lists' : 'landing';
  if (frame.has(name)) return 'frame';
  if (shelf.has(name)) return 'folders';
  return door.has(name) ? 'door' : undefined;
}

/** SvelteKit wraps each page and each layout into a module of its own, which would be one more file. */
function routesOf(node: string): string[] {
  const found = readFileSync(node, 'utf8').matchAll(/["'][^"']*\/src\/(routes\/[^"']+)["']/g);
  return [...found].map(([, path = '']) => join(SRC, path));
}

function nameOf(module: string): string {
  const [, path] = module.split('/node_modules/');
  if (!path) return module;
  const icon = /^@lucide\/svelte\/dist\/icons\/([\w-]+)\./.exec(path)?.[1];
  // What all icons have in common comes with the first.
  if (path.startsWith('@lucide/svelte/') && !icon) return join(SRC, BEGINNINGS.first[0]);
  return icon ? `icon:${icon}` : packageOf(path);
}

/** The words of a language that the first pages use, also those of a link's page, also those of a room's door, or all. */
function wordsOf(messages: Record<string, unknown>, part: string): Record<string, unknown> {
  const { first, link, door } = reach();
  const modules = { first: [first], link: [first, link], door: [first, link, door] }[part];
  const isWanted = modules && ((key: string) => modules.some((each) => isUsed(key, each)));
  return isWanted ? Object.fromEntries(Object.entries(messages).filter(([key]) => isWanted(key))) : messages;
}

function isUsed(key: string, modules: Set<string>): boolean {
  for (const module of modules) {
    const { keys, starts } = read(module);
    if (keys.includes(key) || starts.some((start) => key.startsWith(start))) return true;
  }
  return false;
}

/** `import('./en.json?part=first')` */
export const wordParts: Plugin = {
  name: 'word-parts',
  enforce: 'pre',
  load(id) {
    const [, file, part] = /^(.+\.json)\?part=(\w+)$/.exec(id) ?? [];
    if (!file || !part) return undefined;
    this.addWatchFile(file);
    const messages = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    return JSON.stringify(wordsOf(messages, part));
  },
};

/**
 * SvelteKit makes a file of each page and layout, and asks for it by its name. Those of the light pages are asked for
 * together with what they need.
 */
export const pageGroups: Plugin = {
  name: 'page-groups',
  enforce: 'pre',
  resolveId: (id) => (id.startsWith(GROUP) ? `\0${id}` : undefined),
  load(id) {
    if (!id.startsWith(`\0${GROUP}`)) return undefined;
    const nodes = groups.get(id.slice(1 + GROUP.length)) ?? [];
    return nodes.map((node) => `export * as page${basename(node, '.js')} from '${node}';`).join('\n');
  },
  transform(code, id) {
    if (!id.endsWith('/client-optimized/app.js')) return undefined;
    groups.clear();
    const grouped = code.replace(/import\('\.\/nodes\/(\d+)'\)/g, (whole, number: string) => {
      const node = join(dirname(id), 'nodes', `${number}.js`);
      const group = chunkOf(node);
      if (!group) return whole;
      groups.set(group, [...(groups.get(group) ?? []), node]);
      return `import('${GROUP}${group}').then((group) => group.page${number})`;
    });
    return { code: grouped, map: null };
  },
};

// Only what browsers load: SvelteKit also builds for a server, to look at the pages, and runs what it has built.
export const fewFiles: Plugin = {
  name: 'few-files',
  enforce: 'post',
  config: ({ build }) =>
    build?.ssr ? {} : { build: { rollupOptions: { output: { manualChunks: chunkOf } } } },
};
