import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (kinds: readonly object[]): unknown => soundGateway({ allowedRoutes: { kinds } });

describe('route-kind-repeated', () => {
  test.each<[readonly object[]]>([[[{ kind: 'HTTPRoute' }, { kind: 'GRPCRoute' }]]])('%j is fine', (value) => {
    expect(remarks('route-kind-repeated', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [
      [{ kind: 'HTTPRoute' }, { kind: 'HTTPRoute' }],
      [
        'spec.listeners[0].allowedRoutes.kinds[1]',
        'Duplicate kind "HTTPRoute": kinds[0] is the same. Remove this entry, or correct the kind.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('route-kind-repeated', object(value))).toEqual(expected);
  });
});
