import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('duration-not-standard', () => {
  test.each<[object]>([[{ timeouts: { request: '1m30s' } }], [{ timeouts: { request: '0s' } }]])(
    '%j is fine',
    (value) => {
      expect(remarks('duration-not-standard', object(value))).toEqual([]);
    },
  );

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { timeouts: { request: '90s' } },
      [
        'spec.rules[0].timeouts.request',
        'Duration "90s" is not in the standard format, so tools may show or store it differently. Use 1m30s.',
      ],
    ],
    [
      { timeouts: { request: '0h' } },
      [
        'spec.rules[0].timeouts.request',
        'Duration "0h" is not in the standard format, so tools may show or store it differently. Use 0s.',
      ],
    ],
    [
      { timeouts: { request: '99999h60m' } },
      [
        'spec.rules[0].timeouts.request',
        'Duration "99999h60m" is not in the standard format, so tools may show or store it differently. Use less than 100000h.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('duration-not-standard', object(value))).toEqual(expected);
  });
});
