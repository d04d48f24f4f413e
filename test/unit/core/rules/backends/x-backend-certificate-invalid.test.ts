import { describe, expect, test } from '@jest/globals';
import { found, grantIn, type Facts } from '../../../../support/evaluation.ts';
import { objectOf } from '../../../../support/rules.ts';

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
const backend = (tls: object): unknown =>
  objectOf('XBackend', 'v1alpha1', {
    type: 'EndpointSelector',
    port: { number: 443 },
    endpointSelector: { matchLabels: { app: 'cart' } },
    tls: { validation: { hostname: 'cart.example', wellKnownCACertificates: 'System' }, ...tls },
  });
const judged = (tls: object, ...others: readonly unknown[]): unknown =>
  found('x-backend-certificate-invalid', [backend(tls), ...others], facts);
const grantFrom = (group: string, kind: string): unknown =>
  grantIn('vault', { group, kind, namespace: 'shop' }, { group: '', kind: 'Secret' });

const mode = 'ClientAndServer';
const notServed = 'Until then, requests to the XBackend get 500.';

describe('x-backend-certificate-invalid', () => {
  test.each<[string, object | undefined, string, string]>([
    [
      'not set',
      undefined,
      'clientCertificateRef is required with mode: ClientAndServer. Set it to a Secret of type kubernetes.io/tls.',
      'InvalidClientCertificateRef',
    ],
    [
      'not found',
      { name: 'gone' },
      'Secret "shop/gone" not found. Check its name and namespace, or create it with type kubernetes.io/tls.',
      'InvalidClientCertificateRef',
    ],
    [
      'invalid',
      { name: 'bad' },
      'Invalid certificate in Secret "shop/bad": tls.key not found in its data.',
      'InvalidClientCertificateRef',
    ],
    [
      'of another kind',
      { kind: 'ConfigMap', name: 'good' },
      'Unsupported certificate kind ConfigMap. Use kind: Secret and an empty group.',
      'InvalidClientCertificateRef',
    ],
    [
      'in another namespace',
      { name: 'good', namespace: 'vault' },
      'Reference to Secret "vault/good" is not permitted: it is in another namespace. Create a ReferenceGrant there, from kind XBackend to kind Secret.',
      'RefNotPermitted',
    ],
  ])('a certificate that is %s', (_, clientCertificateRef, message, reason) => {
    expect(judged({ mode, ...(clientCertificateRef && { clientCertificateRef }) })).toEqual([
      ['spec.tls.clientCertificateRef', `${message} ${notServed}`, `Accepted ${reason} object`],
    ]);
  });

  test('a valid one, and one that a ReferenceGrant permits', () => {
    expect(judged({ mode, clientCertificateRef: { name: 'good' } })).toEqual([]);
    const elsewhere = { mode, clientCertificateRef: { name: 'good', namespace: 'vault' } };
    expect(judged(elsewhere, grantFrom('gateway.networking.x-k8s.io', 'XBackend'))).toEqual([]);
    expect(judged(elsewhere, grantFrom('gateway.networking.k8s.io', 'XBackend'))).toHaveLength(1);
    expect(judged(elsewhere, grantFrom('gateway.networking.k8s.io', 'Gateway'))).toHaveLength(1);
  });

  test('one that cannot be read is reported by another rule, and other modes need none', () => {
    expect(judged({ mode, clientCertificateRef: 'good' })).toEqual([]);
    expect(judged({ mode: 'ServerOnly' })).toEqual([]);
    expect(judged({ mode: 'ServerOnly', clientCertificateRef: { name: 'gone' } })).toEqual([]);
  });
});
