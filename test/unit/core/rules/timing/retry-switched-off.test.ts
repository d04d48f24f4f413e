import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('retry-switched-off', () => {
  test.each<[object]>([[{ retry: { attempts: 2, codes: [503] } }], [{ retry: { attempts: 0 } }], [{}]])(
    '%j is fine',
    (value) => {
      expect(remarks('retry-switched-off', object(value))).toEqual([]);
    },
  );

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { retry: { attempts: 0, codes: [503] } },
      [
        'spec.rules[0].retry.attempts',
        'attempts: 0 disables retries, so codes and backoff are ignored. Use attempts: 1 or more, or remove codes and backoff.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('retry-switched-off', object(value))).toEqual(expected);
  });
});
