import { describe, expect, test } from '@jest/globals';
import { found } from '../../../../support/evaluation.ts';
import { authority, authorityFacts, backendTlsPolicy } from '../../../../support/backend-tls.ts';

const judged = (...caCertificateRefs: readonly object[]) =>
  found(
    'backend-authority-invalid',
    [backendTlsPolicy('a', { validation: { hostname: 'cart.example.com', caCertificateRefs } })],
    authorityFacts,
  );

describe('backend-authority-invalid', () => {
  test.each<[string, object, string, string]>([
    [
      'is not there',
      authority('gone'),
      'Invalid CA certificate reference: ConfigMap "shop/gone" not found. Check its name and namespace, or create it with a PEM bundle in ca.crt.',
      'InvalidCACertificateRef',
    ],
    [
      'holds no certificate',
      authority('empty'),
      'ConfigMap "shop/empty" has no valid certificate: ca.crt is missing from its data.',
      'InvalidCACertificateRef',
    ],
    [
      'is of another kind',
      { group: '', kind: 'Secret', name: 'good' },
      'Invalid CA certificate reference: unsupported CA certificate kind Secret. Use kind: ConfigMap and group: "".',
      'InvalidKind',
    ],
    [
      'is of another group',
      { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'good' },
      'Invalid CA certificate reference: unsupported CA certificate kind certificates.k8s.io/ClusterTrustBundle. Use kind: ConfigMap and group: "".',
      'InvalidKind',
    ],
  ])('one that %s', (_, ref, words, reason) => {
    expect(judged(authority('good'), ref)).toEqual([
      ['spec.validation.caCertificateRefs[1]', expect.stringContaining(words), `ResolvedRefs ${reason} object`],
    ]);
  });

  test('good ones are fine', () => {
    expect(judged(authority('good'), authority('good'))).toEqual([]);
  });
});
