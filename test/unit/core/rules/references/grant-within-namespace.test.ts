import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown =>
  objectOf('ReferenceGrant', 'v1', {
    from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'team' }],
    to: [{ group: '', kind: 'Service', name: 'cart' }],
    ...spec,
  });

describe('grant-within-namespace', () => {
  test.each<[object]>([[{}]])('%j is fine', (value) => {
    expect(remarks('grant-within-namespace', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop' }] },
      [
        'spec.from[0].namespace',
        'References within namespace "shop" need no ReferenceGrant. Use the namespace of the objects that refer to this one, or remove the entry.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('grant-within-namespace', object(value))).toEqual(expected);
  });
});
