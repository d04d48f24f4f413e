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

describe('session-without-http', () => {
  test.each<[object]>([
    [
      {
        type: 'EndpointSelector',
        externalHostname: undefined,
        endpointSelector: { matchLabels: { app: 'cart' } },
        protocol: 'HTTP',
        sessionPersistence: { cookie: {} },
      },
    ],
    [{ protocol: 'TCP' }],
  ])('%j is fine', (value) => {
    expect(remarks('session-without-http', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        type: 'EndpointSelector',
        externalHostname: undefined,
        endpointSelector: { matchLabels: { app: 'cart' } },
        protocol: 'TCP',
        sessionPersistence: { cookie: {} },
      },
      [
        'spec.sessionPersistence',
        'sessionPersistence conflicts with protocol: TCP, which has no cookies or headers. Remove sessionPersistence, or use protocol: HTTP.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('session-without-http', object(value))).toEqual(expected);
  });
});
