import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('retry-backoff', () => {
  test.each<[object]>([[{ retry: { attempts: 2 } }]])('%j is fine', (value) => {
    expect(remarks('retry-backoff', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { retry: { backoff: '100ms' } },
      [
        'spec.rules[0].retry.backoff',
        'backoff: 100ms is implementation-specific: each implementation computes the wait in its own way, and some reject the route. Remove it to make the route portable.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('retry-backoff', object(value))).toEqual(expected);
  });
});
