import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown =>
  objectOf('ReferenceGrant', 'v1', {
    from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'team' }],
    to: [{ group: '', kind: 'Service', name: 'cart' }],
    ...spec,
  });

describe('grant-group', () => {
  test.each<[object]>([[{}], [{ from: [{ group: 'example.com', kind: 'Job', namespace: 'team' }] }]])(
    '%j is fine',
    (value) => {
      expect(remarks('grant-group', object(value))).toEqual([]);
    },
  );

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { to: [{ group: 'v1', kind: 'Service', name: 'cart' }] },
      ['spec.to[0].group', 'Kind Service not found in group "v1", so the entry grants nothing. Use group: "".'],
    ],
    [
      { from: [{ group: '', kind: 'HTTPRoute', namespace: 'team' }] },
      [
        'spec.from[0].group',
        'Kind HTTPRoute not found in group "", so the entry grants nothing. Use group: gateway.networking.k8s.io.',
      ],
    ],
    [
      { to: [{ group: '', kind: 'service', name: 'cart' }] },
      ['spec.to[0].kind', 'Kind "service" not found in group "", so the entry grants nothing. Did you mean Service?'],
    ],
    [
      { from: [{ group: 'gateway.networking.k8s.io', kind: 'HttpRoutes', namespace: 'team' }] },
      [
        'spec.from[0].kind',
        'Kind "HttpRoutes" not found in group "gateway.networking.k8s.io", so the entry grants nothing. Did you mean HTTPRoute?',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('grant-group', object(value))).toEqual(expected);
  });
});
