// How the site is built, and how it is served while it is being worked on.
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig, type Plugin } from 'vite';

/**
 * The file that a module goes into: one for each layer and each slice. Left to itself, the bundler makes a file of
 * whatever some pages share: a hundred requests for one page, over connections that take six at a time.
 */
function chunkOf(module: string): string | undefined {
  if (/\/node_modules\/(svelte|@sveltejs\/kit|clsx|esm-env)\//.test(module)) return 'runtime';
  if (module.includes('/node_modules/@lucide/')) return 'icons';
  const folder = /\/src\/lib\/([a-z]+)\//.exec(module)?.[1];
  // Each language stays a file of its own.
  if (folder === undefined || module.endsWith('.json')) return undefined;
  return ['api', 'i18n', 'live', 'shell', 'ui'].includes(folder) ? 'shell' : folder;
}

// Only what browsers load: SvelteKit also builds for a server, to look at the pages, and runs what it has built.
const fewFiles: Plugin = {
  name: 'few-files',
  enforce: 'post',
  config: ({ build }) =>
    build?.ssr ? {} : { build: { rollupOptions: { output: { manualChunks: chunkOf } } } },
};

export default defineConfig({
  plugins: [sveltekit(), fewFiles],
  build: { target: 'es2022' },
  server: {
    // `make run` beside `npm run dev`: pages come from Vite, everything else from the server.
    proxy: { '/api': process.env.SATCHEL_SERVER ?? 'http://127.0.0.1:8400' },
  },
});
