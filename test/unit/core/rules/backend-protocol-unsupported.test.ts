import { describe, expect, test } from '@jest/globals';
import { found, serviceWith } from '../../../support/evaluation.ts';
import { routeWith } from '../../../support/rules.ts';

const asked = (port: object) => found('backend-protocol-unsupported', [routeWith({ backendRefs: [{ name: 'cart', port: 8080 }] }), serviceWith({ ports: [{ port: 8080, ...port }] })]);

describe('backend-protocol-unsupported', () => {
  test.each([{}, { protocol: 'TCP' }, { appProtocol: 'http' }, { appProtocol: 'HTTP' }, { appProtocol: 'kubernetes.io/http' }])('%j is fine', (port) => {
    expect(asked(port)).toEqual([]);
  });

  test.each<[object, string]>([
    [{ protocol: 'UDP' }, 'UDP'],
    [{ protocol: 'SCTP', appProtocol: 'http' }, 'SCTP'],
    [{ appProtocol: 'kubernetes.io/h2c' }, 'kubernetes.io/h2c'],
    [{ appProtocol: 'kubernetes.io/wss' }, 'kubernetes.io/wss'],
    [{ appProtocol: 'https' }, 'https'],
  ])('%j', (port, protocol) => {
    expect(asked(port)).toEqual([[
      'spec.rules[0].backendRefs[0]',
      `Port 8080 of Service shop/cart speaks ${protocol}, which HTTP routes cannot be forwarded with; its share of requests is answered 500. Use a TCP port whose appProtocol is unset or http.`,
      'ResolvedRefs UnsupportedProtocol backendRef',
    ]]);
  });
});
