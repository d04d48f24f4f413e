import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (validation: object): unknown =>
  objectOf('BackendTLSPolicy', 'v1', {
    targetRefs: [{ group: '', kind: 'Service', name: 'cart' }],
    validation: { hostname: 'cart.example.com', wellKnownCACertificates: 'System', ...validation },
  });

describe('backend-several-authorities', () => {
  test.each<[object]>([
    [
      {
        wellKnownCACertificates: undefined,
        caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'authorities' }],
      },
    ],
    [{}],
  ])('%j is fine', (value) => {
    expect(remarks('backend-several-authorities', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        wellKnownCACertificates: undefined,
        caCertificateRefs: [
          { group: '', kind: 'ConfigMap', name: 'old' },
          { group: '', kind: 'ConfigMap', name: 'new' },
        ],
      },
      [
        'spec.validation.caCertificateRefs',
        'There are 2 CA certificate references, but implementations are required to support only one. Put all certificates in one ConfigMap.',
      ],
    ],
    [
      {
        wellKnownCACertificates: undefined,
        caCertificateRefs: [
          { group: '', kind: 'ConfigMap', name: 'old' },
          { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'new' },
        ],
      },
      [
        'spec.validation.caCertificateRefs',
        'There are 2 CA certificate references, but implementations are required to support only one. Use only one of ConfigMap and ClusterTrustBundle.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('backend-several-authorities', object(value))).toEqual(expected);
  });
});
