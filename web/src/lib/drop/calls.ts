// The API calls for a drop session. They send no cookie, so that the account stays out of it.
import createClient from 'openapi-fetch';
import { ask } from '$lib/api/client';
import type { components, paths } from '$lib/api/schema';

type Schemas = components['schemas'];
export type SessionView =
  paths['/api/v1/drop/sessions/{session_id}']['get']['responses'][200]['content']['application/json'];
export type MemberView = SessionView['members'][number];
export type FileView = SessionView['files'][number];
export type RequestView = SessionView['requests'][number];

const http = createClient<paths>({ credentials: 'omit' });

export function openSession(body: Schemas['NewSession']): Promise<Schemas['SessionOpened']> {
  return ask(http.POST('/api/v1/drop/sessions', { body }));
}

export async function findSession(name: string): Promise<string> {
  return (await ask(http.GET('/api/v1/drop/names/{name}', { params: { path: { name } } }))).session_id;
}

export function joinSession(
  sessionId: string,
  body: Schemas['NewMember'],
): Promise<Schemas['SessionJoined']> {
  const params = { path: { session_id: sessionId } };
  return ask(http.POST('/api/v1/drop/sessions/{session_id}/members', { params, body }));
}

/** The door's half comes back. */
export function knock(sessionId: string, body: Schemas['NewKnock']): Promise<{ share: string }> {
  const params = { path: { session_id: sessionId } };
  return ask(http.POST('/api/v1/drop/sessions/{session_id}/knocks', { params, body }));
}

export function showTag(
  sessionId: string,
  knockId: string,
  tag: string,
): Promise<{ tag: string; sealed: string }> {
  const params = { path: { session_id: sessionId, knock_id: knockId } };
  return ask(
    http.POST('/api/v1/drop/sessions/{session_id}/knocks/{knock_id}/tag', { params, body: { tag } }),
  );
}

/** What only a member may ask. */
export class MemberCalls {
  readonly #path: { session_id: string };
  readonly #headers: { authorization: string };

  constructor(sessionId: string, token: string) {
    this.#path = { session_id: sessionId };
    this.#headers = { authorization: `Bearer ${token}` };
  }

  read(): Promise<SessionView> {
    return ask(http.GET('/api/v1/drop/sessions/{session_id}', this.#at({})));
  }

  async close(): Promise<void> {
    await ask(http.DELETE('/api/v1/drop/sessions/{session_id}', this.#at({})));
  }

  async remove(member_id: string): Promise<void> {
    await ask(http.DELETE('/api/v1/drop/sessions/{session_id}/members/{member_id}', this.#at({ member_id })));
  }

  async takeDoor(): Promise<void> {
    await ask(http.PUT('/api/v1/drop/sessions/{session_id}/door', this.#at({})));
  }

  async giveUpDoor(): Promise<void> {
    await ask(http.DELETE('/api/v1/drop/sessions/{session_id}/door', this.#at({})));
  }

  async setLock(isLocked: boolean): Promise<void> {
    const address = '/api/v1/drop/sessions/{session_id}/lock';
    await ask(isLocked ? http.PUT(address, this.#at({})) : http.DELETE(address, this.#at({})));
  }

  async answerKnock(knock_id: string, share: string): Promise<void> {
    await ask(
      http.POST('/api/v1/drop/sessions/{session_id}/knocks/{knock_id}/share', {
        ...this.#at({ knock_id }),
        body: { share },
      }),
    );
  }

  async judgeKnock(knock_id: string, body: Schemas['DoorVerdict']): Promise<void> {
    await ask(
      http.POST('/api/v1/drop/sessions/{session_id}/knocks/{knock_id}/verdict', {
        ...this.#at({ knock_id }),
        body,
      }),
    );
  }

  async announce(files: { file_id: string; sealed: string }[]): Promise<void> {
    await ask(http.POST('/api/v1/drop/sessions/{session_id}/files', { ...this.#at({}), body: { files } }));
  }

  async withdraw(file_id: string): Promise<void> {
    await ask(http.DELETE('/api/v1/drop/sessions/{session_id}/files/{file_id}', this.#at({ file_id })));
  }

  #at<More extends object>(more: More) {
    return { params: { path: { ...this.#path, ...more } }, headers: this.#headers };
  }
}
