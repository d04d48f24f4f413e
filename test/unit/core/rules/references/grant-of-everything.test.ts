import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown =>
  objectOf('ReferenceGrant', 'v1', {
    from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'team' }],
    to: [{ group: '', kind: 'Service', name: 'cart' }],
    ...spec,
  });

describe('grant-of-everything', () => {
  test.each<[object]>([[{ to: [{ group: '', kind: 'Secret', name: 'certificate' }] }]])('%j is fine', (value) => {
    expect(remarks('grant-of-everything', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { to: [{ group: '', kind: 'Secret' }] },
      [
        'spec.to[0].name',
        'name is not set, so the grant permits references to every Secret in this namespace, including future ones. Set the name of each object that you want to permit.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('grant-of-everything', object(value))).toEqual(expected);
  });
});
