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

describe('external-backend-without-tls', () => {
  test.each<[object]>([[{}]])('%j is fine', (value) => {
    expect(remarks('external-backend-without-tls', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { tls: { mode: 'None' } },
      [
        'spec.tls',
        'Requests to "api.example.com" leave the cluster unencrypted. Set tls with mode: ServerOnly and validation.',
      ],
    ],
    [
      { tls: undefined },
      [
        'spec.tls',
        'Requests to "api.example.com" leave the cluster unencrypted. Set tls with mode: ServerOnly and validation.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('external-backend-without-tls', object(value))).toEqual(expected);
  });
});
