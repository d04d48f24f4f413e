import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (listener: object): unknown => soundGateway(listener);

describe('certificates-without-use', () => {
  test.each<[object]>([
    [{ port: 443, protocol: 'TLS', tls: { mode: 'Passthrough' } }],
    [{ port: 443, protocol: 'TLS', tls: { mode: 'Terminate', certificateRefs: [{ name: 'cart' }] } }],
  ])('%j is fine', (value) => {
    expect(remarks('certificates-without-use', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { port: 443, protocol: 'TLS', tls: { mode: 'Passthrough', certificateRefs: [{ name: 'cart' }] } },
      [
        'spec.listeners[0].tls.certificateRefs',
        'certificateRefs is ignored with mode: Passthrough, because the backends terminate TLS. Remove certificateRefs, or use mode: Terminate.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('certificates-without-use', object(value))).toEqual(expected);
  });
});
