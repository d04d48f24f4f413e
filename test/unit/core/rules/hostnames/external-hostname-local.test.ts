import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (hostname: string): unknown => objectOf('XBackend', 'v1alpha1', { type: 'ExternalHostname', port: { number: 443 }, externalHostname: { hostname }, tls: { mode: 'ServerOnly', validation: { hostname, wellKnownCACertificates: 'System' } } });

describe('external-hostname-local', () => {
  test.each<[string]>([
    ['api.example.com'],
    ['svc.example.com'],
  ])('%j is fine', (value) => {
    expect(remarks('external-hostname-local', object(value))).toEqual([]);
  });

  test.each<[string, ...[path: string, message: string][]]>([
    ['cart.shop.svc', [ 'spec.externalHostname.hostname', '"cart.shop.svc" leads to this machine or cluster, past the checks that references to Services are subject to. Refer to the Service instead, or write a name outside.' ]],
    ['cart', [ 'spec.externalHostname.hostname', '"cart" leads to this machine or cluster, past the checks that references to Services are subject to. Refer to the Service instead, or write a name outside.' ]],
    ['localhost', [ 'spec.externalHostname.hostname', '"localhost" leads to this machine or cluster, past the checks that references to Services are subject to. Refer to the Service instead, or write a name outside.' ]],
    ['cluster.local', [ 'spec.externalHostname.hostname', '"cluster.local" leads to this machine or cluster, past the checks that references to Services are subject to. Refer to the Service instead, or write a name outside.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('external-hostname-local', object(value))).toEqual(expected);
  });
});
