import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown =>
  objectOf('ReferenceGrant', 'v1', {
    from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'team' }],
    to: [{ group: '', kind: 'Service', name: 'cart' }],
    ...spec,
  });

describe('grant-repeated', () => {
  test.each<[object]>([
    [
      {
        from: [
          { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'team' },
          { group: 'gateway.networking.k8s.io', kind: 'GRPCRoute', namespace: 'team' },
        ],
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('grant-repeated', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        from: [
          { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'team' },
          { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'team' },
        ],
      },
      ['spec.from[1]', 'Duplicate entry: entry 0 of the list is the same. Remove one of them, or correct it.'],
    ],
    [
      {
        to: [
          { group: '', kind: 'Service', name: 'a' },
          { group: '', kind: 'Service', name: 'b' },
          { group: '', kind: 'Service', name: 'a' },
        ],
      },
      ['spec.to[2]', 'Duplicate entry: entry 0 of the list is the same. Remove one of them, or correct it.'],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('grant-repeated', object(value))).toEqual(expected);
  });
});
