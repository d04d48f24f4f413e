import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { compileRetry } from '../../../../src/proxy/handling/retry.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** The first delays of a policy, without chance: `chance` is a number from 0 to 1. */
function delays(backoff: number | undefined, count: number, chance = 0.5): number[] {
  jest.spyOn(Math, 'random').mockReturnValue(chance);
  const policy = compileRetry({ codes: [], attempts: count, ...(backoff !== undefined && { backoff }) });
  return Array.from({ length: count }, (_, index) => policy.delayAfter(index + 1));
}

test('a request goes out once more than the number of retries', () => {
  expect(compileRetry({ codes: [503], attempts: 2 })).toMatchObject({ tries: 3, codes: new Set([503]) });
});

describe('the delay before a retry', () => {
  test('starts at 25 ms by default and doubles up to one second', () => {
    expect(delays(undefined, 8)).toEqual([25, 50, 100, 200, 400, 800, 1_000, 1_000]);
  });

  test('starts at the configured backoff', () => {
    expect(delays(300, 4)).toEqual([300, 600, 1_000, 1_000]);
  });

  // Hundreds of requests of a route with `backoff: 0s` kept the data plane busy all the time.
  test('grows from a configured backoff of zero, too', () => {
    expect(delays(0, 12)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 1_000]);
  });

  test('stays at a configured backoff of more than one second', () => {
    expect(delays(5_000, 3)).toEqual([5_000, 5_000, 5_000]);
  });

  test('varies by a quarter', () => {
    expect(delays(100, 1, 0)).toEqual([75]);
    expect(delays(100, 1, 1)).toEqual([125]);
  });
});
