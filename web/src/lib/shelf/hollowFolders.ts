// Keeps empty folders that were dropped on the shelf: each is an upload of no bytes whose path ends with a slash.
import { ask, http } from '$lib/api/client';

export async function keepHollow(paths: readonly string[], folder: string): Promise<void> {
  for (const path of paths) {
    const metadata = { destination: 'shelf', folder, relativePath: `${path}/` };
    const written = Object.entries(metadata).map(([name, value]) => `${name} ${base64(value)}`);
    const header = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '0', 'Upload-Metadata': written.join(',') };
    await ask(http.POST('/api/v1/uploads', { params: { header } }));
  }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
