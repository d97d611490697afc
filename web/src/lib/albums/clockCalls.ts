// The API calls to correct the clocks of cameras.
import { ask, http } from '$lib/api/client';
import type { components } from '$lib/api/schema';
import type { Acted } from './albumCalls';

export type Camera = components['schemas']['CameraView'];
export type ClockPlan = components['schemas']['ClockPlanView'];
type ClockBody = components['schemas']['ClockBody'];

export async function readCameras(albumId: string): Promise<Camera[]> {
  const params = { query: { album: albumId } };
  return (await ask(http.GET('/api/v1/photos/cameras', { params }))).cameras;
}

export function planClock(body: ClockBody): Promise<ClockPlan> {
  return ask(http.POST('/api/v1/photos/clock/plan', { body }));
}

export function correctClock(body: ClockBody): Promise<Acted> {
  return ask(http.POST('/api/v1/photos/clock', { body }));
}
