import { describe, expect, test } from '@jest/globals';
import { Backoff } from '../../../src/kubernetes/backoff.ts';

describe('delays between attempts', () => {
  test('double up to half a minute, and start anew after a success', () => {
    const backoff = new Backoff(() => 1);
    expect(Array.from({ length: 8 }, () => backoff.next())).toEqual([
      800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000,
    ]);
    backoff.reset();
    expect(backoff.next()).toBe(800);
  });

  test('can have other limits', () => {
    const backoff = new Backoff(() => 1, { shortest: 5_000, longest: 15_000 });
    expect(Array.from({ length: 4 }, () => backoff.next())).toEqual([5_000, 10_000, 15_000, 15_000]);
    backoff.reset();
    expect(backoff.next()).toBe(5_000);
  });

  test('are half chance', () => {
    expect(new Backoff(() => 0).next()).toBe(400);
  });

  test('are never shorter than what the server asks for', () => {
    const backoff = new Backoff(() => 0);
    expect(backoff.next(7_000)).toBe(7_000);
    expect(backoff.next(10)).toBe(800);
  });
});
