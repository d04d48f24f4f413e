import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const asked = (protocol: string) => found('listener-protocol-unsupported', [gatewayWith({ name: 'web', port: 80, protocol }), ourClass]);

describe('listener-protocol-unsupported', () => {
  test.each(['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP'])('%s is served', (protocol) => {
    expect(asked(protocol)).toEqual([]);
  });

  test.each<[string, string]>([
    ['QUIC', 'Protocols served are HTTP, HTTPS, TLS, TCP, UDP.'],
    ['HTPS', 'Did you mean HTTPS?'],
    ['http', 'Did you mean HTTP?'],
    ['example.com/x', 'Protocols served are HTTP, HTTPS, TLS, TCP, UDP.'],
    ['', 'Protocols served are HTTP, HTTPS, TLS, TCP, UDP.'],
    ['constructor', 'Protocols served are HTTP, HTTPS, TLS, TCP, UDP.'],
  ])('%j is not', (protocol, cure) => {
    expect(asked(protocol)).toEqual([[
      'spec.listeners[0].protocol', `The protocol ${JSON.stringify(protocol)} is not served, so this listener gets no port. ${cure}`, 'Accepted UnsupportedProtocol listener',
    ]]);
  });
});
