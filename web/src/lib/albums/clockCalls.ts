// The API calls to correct the clocks of cameras.
import { ask, http } from '$lib/api/client';
import { RepeatKeys } from '$lib/api/repeatKeys';
import type { components } from '$lib/api/schema';
import type { Acted } from './albumCalls';

export type Camera = components['schemas']['CameraView'];
export type ClockPlan = components['schemas']['ClockPlanView'];
type ClockBody = components['schemas']['ClockBody'];

const repeated = new RepeatKeys();

export async function readCameras(albumId: string): Promise<Camera[]> {
  const params = { query: { album: albumId } };
  return (await ask(http.GET('/api/v1/photos/cameras', { params }))).cameras;
}

export function planClock(body: ClockBody): Promise<ClockPlan> {
  return ask(http.POST('/api/v1/photos/clock/plan', { body }));
}

export function correctClock(body: ClockBody): Promise<Acted> {
  return repeated.once(body, (key) =>
    ask(http.POST('/api/v1/photos/clock', { params: { header: { 'Idempotency-Key': key } }, body })),
  );
}
