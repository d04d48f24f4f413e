import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const asked = (protocol: string) =>
  found('listener-protocol-unsupported', [gatewayWith({ name: 'web', port: 80, protocol }), ourClass]);

describe('listener-protocol-unsupported', () => {
  test.each(['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP'])('%s is served', (protocol) => {
    expect(asked(protocol)).toEqual([]);
  });

  test.each<[string, string]>([
    ['QUIC', 'Supported protocols: HTTP, HTTPS, TLS, TCP, UDP.'],
    ['HTPS', 'Did you mean HTTPS?'],
    ['http', 'Did you mean HTTP?'],
    ['example.com/x', 'Supported protocols: HTTP, HTTPS, TLS, TCP, UDP.'],
    ['', 'Supported protocols: HTTP, HTTPS, TLS, TCP, UDP.'],
    ['constructor', 'Supported protocols: HTTP, HTTPS, TLS, TCP, UDP.'],
  ])('%j is not', (protocol, cure) => {
    expect(asked(protocol)).toEqual([
      [
        'spec.listeners[0].protocol',
        `Unsupported protocol ${JSON.stringify(protocol)}: the listener is not served. ${cure}`,
        'Accepted UnsupportedProtocol listener',
      ],
    ]);
  });
});
