import { describe, expect, test } from '@jest/globals';
import { isLeak, trendOf, type Observation } from '../../bench/soak/trend.ts';

/** One observation per second for an hour. */
function hour(valueAt: (second: number) => number): readonly Observation[] {
  return Array.from({ length: 3600 }, (_, time) => ({ time, value: valueAt(time) }));
}

/** Between -1 and 1, always the same for a second. */
function noiseAt(second: number): number {
  return Math.sin(second * 12.9898) * Math.cos(second * 78.233);
}

describe('the trend of memory', () => {
  test('has the slope per hour and the growth of a line', () => {
    const { slope, noise, growth, mean } = trendOf(hour((second) => 100 + second / 60));
    expect(slope).toBeCloseTo(60);
    expect(noise).toBeCloseTo(0);
    expect(growth).toBeCloseTo(59.98, 1);
    expect(mean).toBeCloseTo(130, 0);
  });

  test.each<[name: string, valueAt: (second: number) => number, expected: boolean]>([
    ['constant memory with noise', (second) => 100 + 10 * noiseAt(second), false],
    ['a sawtooth of garbage collections', (second) => 100 + (second % 137) / 10, false],
    ['growth of 1 MiB of 100', (second) => 100 + second / 3600, false],
    ['memory that is returned', (second) => 200 - second / 36, false],
    ['growth of 10 MiB of 100', (second) => 100 + second / 360, true],
    ['growth of 10 MiB below a sawtooth', (second) => 100 + second / 360 + (second % 137) / 10, true],
  ])('%s', (_, valueAt, expected) => {
    expect(isLeak(trendOf(hour(valueAt)))).toBe(expected);
  });

  test('of too few observations is no leak', () => {
    expect(isLeak(trendOf([]))).toBe(false);
    expect(isLeak(trendOf([{ time: 1, value: 100 }]))).toBe(false);
  });
});
