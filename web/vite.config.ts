// How the site is built, and how it is served while it is being worked on.
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';
import { fewFiles, pageGroups, wordParts } from './chunks';

export default defineConfig({
  plugins: [wordParts, pageGroups, sveltekit(), fewFiles],
  build: { target: 'es2022' },
  server: {
    // `make run` beside `npm run dev`: pages come from Vite, everything else from the server.
    proxy: { '/api': process.env.SATCHEL_SERVER ?? 'http://127.0.0.1:8400' },
  },
});
