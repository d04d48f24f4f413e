import { describe, expect, test } from '@jest/globals';
import { found, grantIn, ourClass, type Facts } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const plain = gatewayWith({ name: 'web', port: 80, protocol: 'HTTP' }) as { readonly spec: object };
const certificate = {
  type: 'certificate',
  notBefore: '2026-01-01T00:00:00Z',
  notAfter: '2027-01-01T00:00:00Z',
} as const;
const facts: Facts = {
  certificates: {
    'shop/good': certificate,
    'vault/good': certificate,
    'shop/bad': { type: 'unusable', problem: 'tls.key not found in its data' },
  },
};
const gateway = (spec: object) => ({ ...plain, spec: { ...plain.spec, ...spec } });
const judged = (ref: object, ...others: readonly unknown[]) =>
  found(
    'backend-certificate-invalid',
    [gateway({ tls: { backend: { clientCertificateRef: ref } } }), ourClass, ...others],
    facts,
  );

describe('backend-certificate-invalid', () => {
  test.each<[string, object, string, string]>([
    [
      'is not there',
      { name: 'gone' },
      'Secret "shop/gone" not found. Check its name and namespace, or create it with type kubernetes.io/tls. Until then, the Gateway sends no client certificate to backends.',
      'InvalidClientCertificateRef',
    ],
    [
      'cannot be used',
      { name: 'bad' },
      'Invalid certificate in Secret "shop/bad": tls.key not found in its data.',
      'InvalidClientCertificateRef',
    ],
    [
      'is of another kind',
      { kind: 'ConfigMap', name: 'good' },
      'Unsupported certificate kind ConfigMap. Use kind: Secret and an empty group. Until then, the Gateway sends no client certificate to backends.',
      'InvalidClientCertificateRef',
    ],
    [
      'is of another group',
      { group: 'example.com', name: 'good' },
      'Unsupported certificate kind example.com/Secret. Use kind: Secret and an empty group. Until then, the Gateway sends no client certificate to backends.',
      'InvalidClientCertificateRef',
    ],
    [
      'is in another namespace',
      { name: 'good', namespace: 'vault' },
      'Reference to Secret "vault/good" is not permitted: it is in another namespace. Create a ReferenceGrant there, from kind Gateway to kind Secret. Until then, the Gateway sends no client certificate to backends.',
      'RefNotPermitted',
    ],
  ])('one that %s', (_, ref, message, reason) => {
    expect(judged(ref)).toEqual([
      ['spec.tls.backend.clientCertificateRef', expect.stringContaining(message), `ResolvedRefs ${reason} object`],
    ]);
  });

  test('a good one, and one that a ReferenceGrant admits, are fine', () => {
    expect(judged({ name: 'good' })).toEqual([]);
    expect(
      judged(
        { name: 'good', namespace: 'vault' },
        grantIn(
          'vault',
          { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'shop' },
          { group: '', kind: 'Secret' },
        ),
      ),
    ).toEqual([]);
  });

  test('finds it where it stood before v1.4', () => {
    expect(
      found(
        'backend-certificate-invalid',
        [gateway({ backendTLS: { clientCertificateRef: { name: 'gone' } } }), ourClass],
        { ...facts, bundle: { minor: '1.3', channel: 'experimental' } },
      ).map(([path]) => path),
    ).toEqual(['spec.backendTLS.clientCertificateRef']);
  });

  test('is silent without one, and about Gateways of others', () => {
    expect(found('backend-certificate-invalid', [gateway({ tls: { backend: {} } }), ourClass])).toEqual([]);
    expect(
      found('backend-certificate-invalid', [gateway({ tls: { backend: { clientCertificateRef: { name: 'gone' } } } })]),
    ).toEqual([]);
  });
});
