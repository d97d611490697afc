import { describe, expect, it } from 'vitest';
import { secondsLeft, Speed } from './speed';

function steady(bytesPerSecond: number, seconds: number): Speed {
  const speed = new Speed();
  for (let at = 0; at <= seconds; at += 0.5) speed.add(bytesPerSecond * at, at);
  return speed;
}

describe('speed', () => {
  it('is unknown before two moments are known', () => {
    const speed = new Speed();
    expect(speed.rate(0)).toBeUndefined();
    speed.add(1000, 0);
    expect(speed.rate(0.1)).toBeUndefined();
  });

  it('is the rate of a steady line', () => {
    expect(steady(1_000_000, 10).rate(10)).toBeCloseTo(1_000_000);
  });

  it('follows a change without jumping to it', () => {
    const speed = steady(1000, 10);
    speed.add(10_000 + 500 * 3, 10.5);
    const rate = speed.rate(10.5) ?? 0;
    expect(rate).toBeGreaterThan(1000);
    expect(rate).toBeLessThan(3000);
  });

  it('falls towards nothing while nothing comes', () => {
    const speed = steady(1000, 10);
    expect(speed.rate(12)).toBeLessThan(1000);
    expect(speed.rate(60)).toBeLessThan(1);
  });

  it('does not count what a resumed upload had already', () => {
    const speed = steady(1000, 2);
    speed.add(500, 3);
    speed.add(1500, 4);
    expect(speed.rate(4)).toBeLessThanOrEqual(1000);
  });

  it('does not take two moments in one for infinitely fast', () => {
    const speed = new Speed();
    speed.add(0, 1);
    speed.add(1e9, 1);
    expect(speed.rate(1)).toBeUndefined();
  });
});

describe('time left', () => {
  it('is unknown when nothing moves', () => {
    expect(secondsLeft(1000, undefined)).toBeUndefined();
    expect(secondsLeft(1000, 0.2)).toBeUndefined();
  });

  it('is what is left by how fast it goes', () => {
    expect(secondsLeft(1000, 100)).toBe(10);
  });
});
