// The API calls for counters of one's own web pages, and their types.
import { ask, http } from '$lib/api/client';
import { RepeatKeys } from '$lib/api/repeatKeys';
import type { components } from '$lib/api/schema';

export type Counter = components['schemas']['CounterView'];

const repeated = new RepeatKeys();

export async function readCounters(): Promise<Counter[]> {
  return (await ask(http.GET('/api/v1/counters'))).counters;
}

export function readCounter(counterId: string): Promise<Counter> {
  return ask(http.GET('/api/v1/counters/{counter_id}', { params: { path: { counter_id: counterId } } }));
}

export function createCounter(name: string, origins: string[]): Promise<Counter> {
  const body = { name, origins };
  return repeated.once(body, (key) =>
    ask(http.POST('/api/v1/counters', { params: { header: { 'Idempotency-Key': key } }, body })),
  );
}

export function changeCounter(counterId: string, name: string, origins: string[]): Promise<Counter> {
  const params = { path: { counter_id: counterId } };
  return ask(http.PATCH('/api/v1/counters/{counter_id}', { params, body: { name, origins } }));
}

export async function deleteCounter(counterId: string): Promise<void> {
  await ask(http.DELETE('/api/v1/counters/{counter_id}', { params: { path: { counter_id: counterId } } }));
}

/** How many clicks were taken back between two moments, both included. */
export async function takeBack(counterId: string, from: string, to: string): Promise<number> {
  const params = { path: { counter_id: counterId } };
  const answer = await ask(http.POST('/api/v1/counters/{counter_id}/undo', { params, body: { from, to } }));
  return answer.taken_back;
}

/** The sites that somebody typed, split by spaces, commas or lines. */
export function sitesIn(written: string): string[] {
  return written.split(/[\s,]+/).filter(Boolean);
}
