// What is asked of the server about the versions of a file.
import type { Answer } from '$lib/api/answers';
import { ask, http } from '$lib/api/client';
import { renewSession } from '$lib/api/sessionRenewal';
import type { Entry } from '$lib/files/entries';
import { saveFrom } from '$lib/shell/browserDownload';

export type Versions = Answer<'/api/v1/shelf/files/{file_id}/versions'>;
export type Version = Versions['versions'][number];

export function readVersions(fileId: string): Promise<Versions> {
  const path = { file_id: fileId };
  return ask(http.GET('/api/v1/shelf/files/{file_id}/versions', { params: { path } }));
}

export function restoreVersion(fileId: string, versionId: string): Promise<Entry> {
  const path = { file_id: fileId, version_id: versionId };
  return ask(http.POST('/api/v1/shelf/files/{file_id}/versions/{version_id}/restore', { params: { path } }));
}

/** A download cannot renew the session by itself. */
export async function downloadVersion(fileId: string, versionId: string): Promise<void> {
  await renewSession();
  saveFrom(`/api/v1/shelf/files/${fileId}/versions/${versionId}/content`);
}
