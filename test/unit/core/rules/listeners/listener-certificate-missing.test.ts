import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('listener-certificate-missing', () => {
  const gatewayWith = (tls: object): unknown =>
    objectOf('Gateway', 'v1', { listeners: [{ name: 'secure', port: 443, protocol: 'HTTPS', tls }] });

  test.each([
    [{ certificateRefs: [{ name: 'a' }] }],
    [{ mode: 'Passthrough' }],
    [{ options: { 'example.com/acme': 'yes' } }],
  ])('%j is fine', (tls) => {
    expect(refusals('listener-certificate-missing', gatewayWith(tls))).toEqual([]);
  });

  test.each([[{}], [{ mode: 'Terminate', certificateRefs: [], options: {} }]])('%j', (tls) => {
    expect(refusals('listener-certificate-missing', gatewayWith(tls))).toEqual([
      [
        'spec.listeners[0].tls.certificateRefs',
        'certificateRefs is required with mode: Terminate. Set certificateRefs with a Secret of type kubernetes.io/tls, or use mode: Passthrough on a listener with protocol TLS.',
      ],
    ]);
  });

  test('options count since v1.1', () => {
    expect(refusingBundles('listener-certificate-missing', gatewayWith({}))).toEqual([
      'standard 1.0–1.7',
      'experimental 1.0–1.7',
    ]);
    expect(
      refusingBundles('listener-certificate-missing', gatewayWith({ options: { 'example.com/acme': 'yes' } })),
    ).toEqual(['standard 1.0–1.0', 'experimental 1.0–1.0']);
  });
});
