import { RuleTester } from 'eslint';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';
import imports from './layers.js';

RuleTester.describe = describe;
RuleTester.it = it;

function at(file: string): string {
  return fileURLToPath(new URL(`../src/${file}`, import.meta.url));
}

function importing(file: string, specifier: string): { filename: string; code: string } {
  return { filename: at(file), code: `import '${specifier}';` };
}

new RuleTester().run('layers', imports.rules.layers, {
  valid: [
    importing('lib/rooms/Chat.js', '$lib/live/live.svelte'),
    importing('lib/rooms/Chat.js', './rooms'),
    importing('lib/uploads/queue.js', '$lib/files/entries'),
    importing('routes/+layout.js', '$lib/rooms/RoomPage.svelte'),
    importing('lib/ui/Button.js', 'svelte'),
  ],
  invalid: [
    {
      ...importing('lib/shelf/Browser.js', '$lib/links/LinkDialog.svelte'),
      errors: [{ messageId: 'upward' }],
    },
    { ...importing('lib/shelf/Browser.js', '../links/LinkDialog.svelte'), errors: [{ messageId: 'upward' }] },
    { ...importing('lib/live/live.js', '$lib/files/entries'), errors: [{ messageId: 'upward' }] },
    { ...importing('lib/ui/Button.js', '$lib/shell/Frame.svelte'), errors: [{ messageId: 'upward' }] },
    { ...importing('lib/ui/Button.js', '../../routes/AppFrame.svelte'), errors: [{ messageId: 'upward' }] },
    {
      filename: at('lib/shelf/Browser.js'),
      code: `export const lazy = () => import('$lib/links/LinkDialog.svelte');`,
      errors: [{ messageId: 'upward' }],
    },
    {
      filename: at('lib/live/live.js'),
      code: `export { archiveOf } from '$lib/files/archive';`,
      errors: [{ messageId: 'upward' }],
    },
    {
      filename: at('lib/live/live.js'),
      code: `new Worker(new URL('../files/digest.worker.ts', import.meta.url));`,
      errors: [{ messageId: 'upward' }],
    },
    { ...importing('lib/other/some.js', '$lib/ui/Button.svelte'), errors: [{ messageId: 'unknown' }] },
  ],
});

new RuleTester().run('cycles', imports.rules.cycles, {
  valid: [importing('lib/api/client.ts', './problems')],
  invalid: [
    { ...importing('lib/api/problems.ts', './client'), errors: [{ messageId: 'cycle' }] },
    { ...importing('lib/files/crc32.ts', './verifiedDownload'), errors: [{ messageId: 'cycle' }] },
  ],
});
