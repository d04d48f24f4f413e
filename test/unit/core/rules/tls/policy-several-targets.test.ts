import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown =>
  objectOf('BackendTLSPolicy', 'v1', {
    targetRefs: [{ group: '', kind: 'Service', name: 'cart' }],
    validation: { hostname: 'cart.example.com', wellKnownCACertificates: 'System' },
    ...spec,
  });

describe('policy-several-targets', () => {
  test.each<[object]>([[{}]])('%j is fine', (value) => {
    expect(remarks('policy-several-targets', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        targetRefs: [
          { group: '', kind: 'Service', name: 'cart' },
          { group: '', kind: 'Service', name: 'shop' },
        ],
      },
      [
        'spec.targetRefs[1]',
        'The policy has 2 targets, but implementations are required to support only one. Create a policy for each target.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('policy-several-targets', object(value))).toEqual(expected);
  });
});
