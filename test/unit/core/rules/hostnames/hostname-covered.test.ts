import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (spec: object): unknown => soundRoute({}, spec);

describe('hostname-covered', () => {
  test.each<[object]>([
    [{ hostnames: ['*.example.com', 'shop.example.org'] }],
    [{ hostnames: ['*.example.com', 'example.com'] }],
    [{ hostnames: ['*.example.com'] }],
  ])('%j is fine', (value) => {
    expect(remarks('hostname-covered', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { hostnames: ['*.example.com', 'shop.example.com'] },
      [
        'spec.hostnames[1]',
        'Hostname "shop.example.com" is redundant: "*.example.com" in the same list also matches it. Remove it, unless it must take precedence over other routes with that wildcard.',
      ],
    ],
    [
      { hostnames: ['*.example.com', '*.shop.example.com'] },
      [
        'spec.hostnames[1]',
        'Hostname "*.shop.example.com" is redundant: "*.example.com" in the same list also matches it. Remove it, unless it must take precedence over other routes with that wildcard.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('hostname-covered', object(value))).toEqual(expected);
  });
});
