// Tests of what needs no browser; journeys through the real one are in tests/browser.
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [sveltekit()],
  test: { include: ['src/**/*.test.ts', 'eslint/*.test.ts'], environment: 'node' },
});
