import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (port: number): unknown => soundGateway({ port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cart' }] } }, { tls: { frontend: { default: {}, perPort: [{ port, tls: { validation: { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'partners' }] } } }] } } });

describe('client-validation-without-listener', () => {
  test.each<[number]>([
    [443],
  ])('%j is fine', (value) => {
    expect(remarks('client-validation-without-listener', object(value))).toEqual([]);
  });

  test.each<[number, ...[path: string, message: string][]]>([
    [8443, [ 'spec.tls.frontend.perPort[0].port', 'No HTTPS listener of this Gateway has port 8443, so nobody is checked by this. HTTPS listeners have port 443; write one of them, unless a ListenerSet brings one.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('client-validation-without-listener', object(value))).toEqual(expected);
  });
});
