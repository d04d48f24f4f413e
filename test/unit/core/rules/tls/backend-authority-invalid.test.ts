import { describe, expect, test } from '@jest/globals';
import { installationCell } from '../../../../../src/core/graph/inputs.ts';
import { write } from '../../../../../src/core/incremental/index.ts';
import { linkFindings } from '../../../../../src/core/rules/engine/link-findings.ts';
import { evaluate, found, installation } from '../../../../support/evaluation.ts';
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
      'ConfigMap "shop/empty" is invalid: ca.crt not found in its data.',
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
      { group: 'example.com', kind: 'ClusterTrustBundle', name: 'good' },
      'Invalid CA certificate reference: unsupported CA certificate kind example.com/ClusterTrustBundle. Use kind: ConfigMap and group: "".',
      'InvalidKind',
    ],
    [
      'is a ClusterTrustBundle that is not there',
      { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'good' },
      'Invalid CA certificate reference: ClusterTrustBundle "good" not found.',
      'InvalidCACertificateRef',
    ],
  ])('one that %s', (_, ref, words, reason) => {
    expect(judged(authority('good'), ref)).toEqual([
      ['spec.validation.caCertificateRefs[1]', expect.stringContaining(words), `ResolvedRefs ${reason} object`],
    ]);
  });

  test('a ClusterTrustBundle of an API server that does not serve the kind', () => {
    const bundle = { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'example.com:ca:v1' };
    const policy = backendTlsPolicy('a', { validation: { hostname: 'cart.example.com', caCertificateRefs: [bundle] } });
    const world = evaluate([policy], authorityFacts);
    world.kernel.apply([write(installationCell, [], { ...installation, notInstalled: ['ClusterTrustBundle'] })]);
    expect(
      world.kernel.read
        .query(linkFindings, 'BackendTLSPolicy', 'shop', 'a')
        .map(({ rule, message, consequence }) => [rule, consequence?.reason, message]),
    ).toEqual(
      expect.arrayContaining([
        [
          'backend-authority-invalid',
          'InvalidKind',
          'Invalid CA certificate reference: the API server does not serve kind ClusterTrustBundle. Upgrade Kubernetes to 1.37, or use kind: ConfigMap and group: "".',
        ],
        ['backend-authority-missing', undefined, expect.stringContaining('No valid CA certificate')],
      ]),
    );
  });

  test('good ones are fine', () => {
    expect(judged(authority('good'), authority('good'))).toEqual([]);
  });
});
