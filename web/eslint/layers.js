// Two rules for imports inside src: they point to a lower layer, and they never form a cycle.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const LIB = join(SRC, 'lib');

/** The folders of src/lib, lowest layer first. Folders of one layer do not import each other. */
const LAYERS = [
  ['i18n'],
  ['api'],
  ['ui'],
  ['shell'],
  ['files', 'live'],
  ['uploads'],
  // The slices. A page that shows two of them is put together in src/routes.
  ['activity', 'albums', 'drop', 'links', 'rooms', 'scores', 'shelf', 'transfers'],
  ['routes'],
];

const layers = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      upward: '`{{from}}` must not import `{{to}}`: only from layers below it (see eslint/layers.js).',
      unknown: '`{{folder}}` belongs to no layer: add it to eslint/layers.js.',
    },
  },
  create(context) {
    const from = folderOf(context.filename);
    return visitorOf((node, specifier) => {
      const target = resolved(context.filename, specifier);
      const to = target && folderOf(target);
      if (!from || !to || from === to) return;
      const unknown = [from, to].find((folder) => layerOf(folder) < 0);
      if (unknown) context.report({ node, messageId: 'unknown', data: { folder: unknown } });
      else if (layerOf(to) >= layerOf(from))
        context.report({ node, messageId: 'upward', data: { from, to } });
    });
  },
};

const cycles = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { cycle: 'This import is part of a cycle: {{path}}.' },
  },
  create(context) {
    return visitorOf((node, specifier) => {
      const target = resolved(context.filename, specifier);
      const path = target && pathBetween(target, context.filename);
      if (!path) return;
      const names = [context.filename, ...path].map((file) => relative(SRC, file));
      context.report({ node, messageId: 'cycle', data: { path: names.join(' → ') } });
    });
  },
};

export default { rules: { layers, cycles } };

/** Calls `check` with every import, re-export, `import()` and address of a worker in a file. */
function visitorOf(check) {
  const checkSource = (node) => {
    if (typeof node.source?.value === 'string') check(node, node.source.value);
  };
  return {
    ImportDeclaration: checkSource,
    ExportNamedDeclaration: checkSource,
    ExportAllDeclaration: checkSource,
    ImportExpression: checkSource,
    'NewExpression[callee.name="URL"][arguments.1.type="MemberExpression"] > Literal:first-child': (node) =>
      check(node, String(node.value)),
  };
}

/** The folder of src/lib that a file is in; everything beside src/lib is `routes`. Undefined outside of src. */
function folderOf(file) {
  const path = relative(SRC, file);
  if (path.startsWith('..')) return undefined;
  const [first, second, third] = path.split(sep);
  if (first !== 'lib') return 'routes';
  return third === undefined ? '(none)' : second;
}

function layerOf(folder) {
  return LAYERS.findIndex((folders) => folders.includes(folder));
}

/** The file of src that a specifier names; undefined for packages and for what is generated. */
function resolved(file, specifier) {
  let base;
  if (specifier.startsWith('$lib/')) base = join(LIB, specifier.slice('$lib/'.length));
  else if (specifier.startsWith('.')) base = join(dirname(file), specifier);
  else return undefined;
  if (relative(SRC, base).startsWith('..')) return undefined;
  return [base, `${base}.ts`, join(base, 'index.ts')].find(isFile);
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Read once for a run. */
let graph;

/** The files from `start` to `end`, along imports; undefined if none lead there. */
function pathBetween(start, end) {
  graph ??= readGraph();
  const cameFrom = new Map([[start, undefined]]);
  for (const file of cameFrom.keys()) {
    if (file === end) {
      const path = [];
      for (let at = file; at; at = cameFrom.get(at)) path.unshift(at);
      return path;
    }
    for (const next of graph.get(file) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, file);
  }
  return undefined;
}

const SPECIFIER = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|\bnew URL\(\s*)['"]([^'"]+)['"]/g;

function readGraph() {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((name) => join(SRC, name))
    .filter((path) => ['.ts', '.svelte'].includes(extname(path)));
  return new Map(files.map((file) => [file, importsOf(file)]));
}

function importsOf(file) {
  const found = Array.from(readFileSync(file, 'utf8').matchAll(SPECIFIER), ([, specifier]) =>
    resolved(file, specifier),
  );
  return new Set(found.filter(Boolean));
}
