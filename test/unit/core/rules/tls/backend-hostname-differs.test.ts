import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown =>
  objectOf('XBackend', 'v1alpha1', {
    type: 'ExternalHostname',
    port: { number: 443 },
    protocol: 'HTTP',
    externalHostname: { hostname: 'api.example.com' },
    tls: { mode: 'ServerOnly', validation: { hostname: 'api.example.com', wellKnownCACertificates: 'System' } },
    ...spec,
  });

describe('backend-hostname-differs', () => {
  test.each<[object]>([[{}]])('%j is fine', (value) => {
    expect(remarks('backend-hostname-differs', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { externalHostname: { hostname: 'api.example.org' } },
      [
        'spec.tls.validation.hostname',
        'Requests go to "api.example.org", but the certificate is verified for "api.example.com". Use "api.example.org", unless this is intended.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('backend-hostname-differs', object(value))).toEqual(expected);
  });
});
