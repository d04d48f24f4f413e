import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (hostname: string): unknown =>
  objectOf('XBackend', 'v1alpha1', {
    type: 'ExternalHostname',
    port: { number: 443 },
    externalHostname: { hostname },
    tls: { mode: 'ServerOnly', validation: { hostname: 'api.example.com', wellKnownCACertificates: 'System' } },
  });

describe('external-hostname-is-ip', () => {
  test.each<[string]>([['api.example.com'], ['1.example.com']])('%j is fine', (value) => {
    expect(remarks('external-hostname-is-ip', object(value))).toEqual([]);
  });

  test.each<[string, ...[path: string, message: string][]]>([
    [
      '192.0.2.1',
      [
        'spec.externalHostname.hostname',
        'Invalid hostname "192.0.2.1": it is an IP address. Use the DNS name of the external backend, or refer to a Service.',
      ],
    ],
    [
      '169.254.169.254',
      [
        'spec.externalHostname.hostname',
        'Invalid hostname "169.254.169.254": it is an IP address (the address of a cloud metadata service). Use the DNS name of the external backend, or refer to a Service.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('external-hostname-is-ip', object(value))).toEqual(expected);
  });
});
