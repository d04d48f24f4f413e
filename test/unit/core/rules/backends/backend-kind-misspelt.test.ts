import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (ref: object): unknown =>
  objectOf('TCPRoute', 'v1', {
    parentRefs: [{ name: 'front' }],
    rules: [{ backendRefs: [{ name: 'cart', port: 80, ...ref }] }],
  });

describe('backend-kind-misspelt', () => {
  test.each<[object]>([
    [{ group: '', kind: 'Service' }],
    [{ group: 'example.com', kind: 'Bucket' }],
    [{ group: '', kind: 'Pod' }],
  ])('%j is fine', (value) => {
    expect(remarks('backend-kind-misspelt', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { group: 'core', kind: 'Service' },
      [
        'spec.rules[0].backendRefs[0].kind',
        'Kind "Service" not found in group "core". Did you mean kind: Service with group: ""?',
      ],
    ],
    [
      { kind: 'service' },
      ['spec.rules[0].backendRefs[0].kind', 'Kind "service" not found in group "". Did you mean kind: Service?'],
    ],
    [
      { group: 'gateway.networking.k8s.io', kind: 'Backend' },
      [
        'spec.rules[0].backendRefs[0].kind',
        'Kind "Backend" not found in group "gateway.networking.k8s.io". Did you mean kind: XBackend with group: gateway.networking.x-k8s.io?',
      ],
    ],
    [
      { group: 'gateway.networking.k8s.io', kind: 'XBackend' },
      [
        'spec.rules[0].backendRefs[0].kind',
        'Kind "XBackend" not found in group "gateway.networking.k8s.io". Did you mean group: gateway.networking.x-k8s.io?',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('backend-kind-misspelt', object(value))).toEqual(expected);
  });
});
