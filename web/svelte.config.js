// What SvelteKit needs to know: a static site with one shell page, written where the Python package looks for it.
import adapter from '@sveltejs/adapter-static';
import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

const site = process.env.SATCHEL_SITE ?? '../src/satchel/site';

/** @type {import('@sveltejs/kit').Config} */
export default {
  preprocess: vitePreprocess(),
  compilerOptions: { runes: true },
  kit: {
    // Compressed once here, so that the server never compresses.
    adapter: adapter({ pages: site, assets: site, fallback: 'index.html', precompress: true }),
    // The server answers every address of the app with the same page, so paths start at the root.
    paths: { relative: false },
    version: { name: process.env.SATCHEL_SOURCES ?? 'unversioned' },
  },
};
