import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (tls: object): unknown =>
  objectOf('XBackend', 'v1alpha1', {
    type: 'ExternalHostname',
    port: { port: 443 },
    protocol: 'HTTP',
    externalHostname: { hostname: 'api.example.com' },
    tls,
  });
const bundle = { minor: '1.6', channel: 'experimental' } as const;

describe('backend-validation-missing', () => {
  test.each<[object]>([
    [{ mode: 'ServerOnly', validation: { hostname: 'api.example.com', wellKnownCACertificates: 'System' } }],
  ])('%j is fine', (value) => {
    expect(remarks('backend-validation-missing', object(value), bundle)).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { mode: 'ServerOnly' },
      [
        'spec.tls.validation',
        'validation is required with mode: ServerOnly; v1.7 rejects the object without it. Set validation with hostname and wellKnownCACertificates: System or caCertificateRefs.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('backend-validation-missing', object(value), bundle)).toEqual(expected);
  });
});
