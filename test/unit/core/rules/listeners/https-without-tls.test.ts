import { describe, expect, test } from '@jest/globals';
import { httpsWithoutTls } from '../../../../../src/core/rules/listeners/https-without-tls.ts';
import { consequences, gatewayWith, judge } from '../../../../support/rules.ts';

describe('https-without-tls', () => {
  test.each([
    { protocol: 'HTTPS', tls: {} },
    { protocol: 'HTTP' },
    { protocol: 'TCP' },
    { protocol: 'HTTPS', tls: 'yes' },
  ])('%j is fine here', (listener) => {
    expect(judge(httpsWithoutTls, gatewayWith({ name: 'web', port: 443, ...listener }))).toEqual([]);
  });

  test('a listener that terminates TLS with nothing', () => {
    const gateway = gatewayWith(
      { name: 'web', port: 80, protocol: 'HTTP' },
      { name: 'secure', port: 443, protocol: 'HTTPS' },
    );
    expect(judge(httpsWithoutTls, gateway)).toEqual([
      [
        'spec.listeners[1].tls',
        'Listener "secure" terminates TLS, but has no certificate. Set tls with certificateRefs that name a Secret of type kubernetes.io/tls, or use protocol: HTTP.',
      ],
    ]);
    expect(consequences(httpsWithoutTls, gateway)).toEqual(['ResolvedRefs InvalidCertificateRef listener']);
  });
});
