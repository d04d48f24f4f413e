import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (spec: object): unknown => soundRoute({}, spec);

describe('route-without-parents', () => {
  test.each<[object]>([[{ parentRefs: [{ name: 'front' }] }], [{ parentRefs: [], useDefaultGateways: 'All' }]])(
    '%j is fine',
    (value) => {
      expect(remarks('route-without-parents', object(value))).toEqual([]);
    },
  );

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { parentRefs: [] },
      [
        'spec.parentRefs',
        'The route has no parentRefs, so it gets no traffic. Set parentRefs with the name of a Gateway.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('route-without-parents', object(value))).toEqual(expected);
  });
});
