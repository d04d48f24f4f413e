import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (listener: object): unknown => soundGateway(listener);

describe('several-certificates', () => {
  test.each<[object]>([[{ port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cart' }] } }]])(
    '%j is fine',
    (value) => {
      expect(remarks('several-certificates', object(value))).toEqual([]);
    },
  );

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cart' }, { name: 'shop' }] } },
      [
        'spec.listeners[0].tls.certificateRefs',
        'The listener has 2 certificates. The implementation decides which one a client gets, and some use only the first. Use one listener with one certificate for each hostname.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('several-certificates', object(value))).toEqual(expected);
  });
});
