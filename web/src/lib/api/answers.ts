// The type of what the server answers to a GET, by its path.
import type { paths } from './schema';

export type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;
