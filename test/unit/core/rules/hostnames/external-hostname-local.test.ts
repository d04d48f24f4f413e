import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (hostname: string): unknown =>
  objectOf('XBackend', 'v1alpha1', {
    type: 'ExternalHostname',
    port: { number: 443 },
    externalHostname: { hostname },
    tls: { mode: 'ServerOnly', validation: { hostname, wellKnownCACertificates: 'System' } },
  });

describe('external-hostname-local', () => {
  test.each<[string]>([['api.example.com'], ['svc.example.com']])('%j is fine', (value) => {
    expect(remarks('external-hostname-local', object(value))).toEqual([]);
  });

  test.each<[string, ...[path: string, message: string][]]>([
    [
      'cart.shop.svc',
      [
        'spec.externalHostname.hostname',
        'Invalid hostname "cart.shop.svc": it is local to the node or the cluster, and bypasses the checks of references to Services. Refer to the Service instead, or use a name outside the cluster.',
      ],
    ],
    [
      'cart',
      [
        'spec.externalHostname.hostname',
        'Invalid hostname "cart": it is local to the node or the cluster, and bypasses the checks of references to Services. Refer to the Service instead, or use a name outside the cluster.',
      ],
    ],
    [
      'localhost',
      [
        'spec.externalHostname.hostname',
        'Invalid hostname "localhost": it is local to the node or the cluster, and bypasses the checks of references to Services. Refer to the Service instead, or use a name outside the cluster.',
      ],
    ],
    [
      'cluster.local',
      [
        'spec.externalHostname.hostname',
        'Invalid hostname "cluster.local": it is local to the node or the cluster, and bypasses the checks of references to Services. Refer to the Service instead, or use a name outside the cluster.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('external-hostname-local', object(value))).toEqual(expected);
  });
});
