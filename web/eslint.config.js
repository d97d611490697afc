// Rules that catch mistakes; how code looks is Prettier's business.
import globals from 'globals';
import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';
import imports from './eslint/layers.js';
import svelteConfig from './svelte.config.js';

export default ts.config(
  { ignores: ['.svelte-kit/', 'node_modules/', 'src/lib/*/schema.d.ts'] },
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  {
    files: ['src/**'],
    plugins: { imports },
    rules: { 'imports/layers': 'error', 'imports/cycles': 'error' },
  },
  {
    rules: {
      // The app lives at the root of its server, so plain paths are right.
      'svelte/no-navigation-without-resolve': 'off',
      'svelte/no-at-html-tags': 'error',
      'no-console': 'error',
    },
  },
);
