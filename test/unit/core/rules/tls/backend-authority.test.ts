import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('backend-authority', () => {
  const policyWith = (validation: object): unknown => objectOf('BackendTLSPolicy', 'v1', { validation });
  const refs = [{ group: '', kind: 'ConfigMap', name: 'ca' }];
  const both = { caCertificateRefs: refs, wellKnownCACertificates: 'System' };

  test.each([[{ caCertificateRefs: refs }], [{ wellKnownCACertificates: 'System' }]])('%j is fine', (validation) => {
    expect(refusals('backend-authority', policyWith(validation))).toEqual([]);
  });

  test('neither, and both', () => {
    expect(refusals('backend-authority', policyWith({}))).toEqual([
      [
        'spec.validation',
        'CA certificates are required. Set caCertificateRefs with a ConfigMap that has ca.crt, or use wellKnownCACertificates: System.',
      ],
    ]);
    expect(refusals('backend-authority', policyWith(both))).toEqual([
      [
        'spec.validation.wellKnownCACertificates',
        'caCertificateRefs conflicts with wellKnownCACertificates: both set the trusted CA certificates. Remove one of them.',
      ],
    ]);
  });

  test('an empty list counts in the experimental channel since v1.7', () => {
    expect(
      refusingBundles('backend-authority', policyWith({ caCertificateRefs: [], wellKnownCACertificates: 'System' })),
    ).toEqual(['experimental 1.7–1.7']);
    expect(refusingBundles('backend-authority', policyWith({ caCertificateRefs: [] }))).toEqual([
      'standard 1.4–1.7',
      'experimental 1.4–1.6',
    ]);
    expect(refusingBundles('backend-authority', policyWith(both))).toEqual([
      'standard 1.4–1.7',
      'experimental 1.4–1.7',
    ]);
  });

  test('speaks of the fields of v1alpha2 by their names', () => {
    const policy = objectOf('BackendTLSPolicy', 'v1alpha2', { tls: { hostname: 'a' } });
    expect(refusals('backend-authority', policy, { minor: '1.0', channel: 'experimental' })).toEqual([
      [
        'spec.tls',
        'CA certificates are required. Set caCertRefs with a ConfigMap that has ca.crt, or use wellKnownCACerts: System.',
      ],
    ]);
    expect(refusingBundles('backend-authority', policy)).toEqual(['experimental 1.0–1.0']);
  });

  test('looks at XBackends', () => {
    expect(
      refusingBundles(
        'backend-authority',
        objectOf('XBackend', 'v1alpha1', { tls: { mode: 'ServerOnly', validation: {} } }),
      ),
    ).toEqual(['experimental 1.6–1.7']);
  });
});
