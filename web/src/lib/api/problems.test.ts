import { describe, expect, it } from 'vitest';
import { problemFrom } from './problems';

const JSON_TYPE = 'application/problem+json';

describe('what the server refused', () => {
  it('is told in its own words to whoever reads English', () => {
    const body = {
      type: '/problems#too-many',
      detail: 'Wait 7 seconds.',
      instance: 'urn:satchel:request:abc',
    };
    const problem = problemFrom(429, JSON_TYPE, body);
    expect([problem.slug, problem.sentence, problem.request]).toEqual(['too-many', 'Wait 7 seconds.', 'abc']);
  });

  it('names the field that is wrong', () => {
    const body = { type: '/problems#invalid', detail: 'Choose another.', field: 'password' };
    expect(problemFrom(422, JSON_TYPE, body).field).toBe('password');
  });

  it.each(['text/html', null])('is a matter of something in between when it comes as %s', (type) => {
    expect(problemFrom(502, type, '<h1>Bad gateway</h1>').slug).toBe('proxy');
  });
});
