import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown =>
  objectOf('BackendTLSPolicy', 'v1', {
    targetRefs: [{ group: '', kind: 'Service', name: 'cart' }],
    validation: { hostname: 'cart.example.com', wellKnownCACertificates: 'System' },
    ...spec,
  });

describe('policy-target-kind', () => {
  test.each<[object]>([
    [{}],
    [{ targetRefs: [{ group: 'multicluster.x-k8s.io', kind: 'ServiceImport', name: 'cart' }] }],
  ])('%j is fine', (value) => {
    expect(remarks('policy-target-kind', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { targetRefs: [{ group: 'core', kind: 'Service', name: 'cart' }] },
      [
        'spec.targetRefs[0].kind',
        'Target kind "Service" of group "core" is not portable: implementations are required to support only Service, and Sallyport ignores the target. Use group: "".',
      ],
    ],
    [
      { targetRefs: [{ group: 'example.com', kind: 'Backend', name: 'cart' }] },
      [
        'spec.targetRefs[0].kind',
        'Target kind "Backend" of group "example.com" is not portable: implementations are required to support only Service, and Sallyport ignores the target. Use kind: Service and group: "", unless your implementation documents this kind.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('policy-target-kind', object(value))).toEqual(expected);
  });
});
