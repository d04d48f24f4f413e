import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('external-hostname-internal', () => {
  const backendWith = (hostname: string): unknown =>
    objectOf('XBackend', 'v1alpha1', { externalHostname: { hostname } });

  test.each(['a.example', 'cluster.local', 'cluster.local.example'])('%s is fine', (hostname) => {
    expect(refusals('external-hostname-internal', backendWith(hostname))).toEqual([]);
  });

  test('names of Services are not', () => {
    expect(refusals('external-hostname-internal', backendWith('cart.shop.svc.cluster.local'))).toEqual([
      [
        'spec.externalHostname.hostname',
        'Invalid hostname "cart.shop.svc.cluster.local": it is a name inside the cluster. Refer to the Service instead, or use a hostname outside the cluster.',
      ],
    ]);
    expect(refusingBundles('external-hostname-internal', backendWith('a.cluster.local'))).toEqual([
      'experimental 1.6–1.7',
    ]);
  });
});
