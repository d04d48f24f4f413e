import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('trust-bundle-namespace', () => {
  const bundle = { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'clients' };
  const gatewayWith = (ref: object): unknown =>
    objectOf('Gateway', 'v1', {
      tls: {
        frontend: {
          default: { validation: { caCertificateRefs: [ref] } },
          perPort: [{ port: 443, tls: { validation: { caCertificateRefs: [ref] } } }],
        },
      },
    });

  test.each([[bundle], [{ group: '', kind: 'ConfigMap', name: 'clients', namespace: 'shop' }]])('%j is fine', (ref) => {
    expect(refusals('trust-bundle-namespace', gatewayWith(ref))).toEqual([]);
  });

  test('looks at both places', () => {
    const message =
      'Namespace is not allowed in a reference to ClusterTrustBundle "clients": the kind is cluster-scoped. Remove namespace.';
    expect(refusals('trust-bundle-namespace', gatewayWith({ ...bundle, namespace: 'shop' }))).toEqual([
      ['spec.tls.frontend.default.validation.caCertificateRefs[0].namespace', message],
      ['spec.tls.frontend.perPort[0].tls.validation.caCertificateRefs[0].namespace', message],
    ]);
  });

  test('is new', () => {
    expect(refusingBundles('trust-bundle-namespace', gatewayWith({ ...bundle, namespace: 'shop' }))).toEqual([
      'experimental 1.7–1.7',
    ]);
  });
});
