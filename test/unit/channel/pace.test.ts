import { describe, expect, test } from '@jest/globals';
import { Pace } from '../../../src/channel/pace.ts';

describe('the pace of a peer', () => {
  test.each([
    ['short messages', 1, 10_000, 2_560],
    ['long messages', 2 ** 20, 100, 10],
  ])('limits %s', (_what, length, count, perSecond) => {
    const pace = new Pace();
    const pauses = Array.from({ length: count }, () => pace.after(length));
    const milliseconds = pauses.reduce((sum, pause) => sum + pause, 0);
    expect((count / milliseconds) * 1_000).toBeLessThan(perSecond * 1.01);
    expect((count / milliseconds) * 1_000).toBeGreaterThan(perSecond * 0.9);
  });

  test('never pauses for a few messages', () => {
    const pace = new Pace();
    expect(Array.from({ length: 60 }, () => pace.after(100)).every((pause) => pause === 0)).toBe(true);
  });
});
