import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('weights-all-zero', () => {
  test.each<[object]>([
    [
      {
        backendRefs: [
          { name: 'cart', port: 80, weight: 1 },
          { name: 'shop', port: 80, weight: 0 },
        ],
      },
    ],
    [{}],
  ])('%j is fine', (value) => {
    expect(remarks('weights-all-zero', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        backendRefs: [
          { name: 'cart', port: 80, weight: 0 },
          { name: 'shop', port: 80, weight: 0 },
        ],
      },
      [
        'spec.rules[0].backendRefs',
        'Every backendRef of the rule has weight: 0, so all of its requests get an error. Set the weight of at least one of them to 1 or more.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('weights-all-zero', object(value))).toEqual(expected);
  });
});
