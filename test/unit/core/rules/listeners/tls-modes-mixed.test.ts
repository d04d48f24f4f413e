import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (listeners: readonly object[]): unknown =>
  soundGateway(
    {},
    {
      listeners: listeners.map((listener, index) => ({
        name: `l${index}`,
        port: 443,
        protocol: 'TLS',
        hostname: `l${index}.example.com`,
        ...listener,
      })),
    },
  );

describe('tls-modes-mixed', () => {
  test.each<[readonly object[]]>([
    [
      [
        { tls: { mode: 'Terminate', certificateRefs: [{ name: 'cart' }] } },
        { port: 8443, tls: { mode: 'Passthrough' } },
      ],
    ],
    [[{ tls: { mode: 'Passthrough' } }, { tls: { mode: 'Passthrough' } }]],
  ])('%j is fine', (value) => {
    expect(remarks('tls-modes-mixed', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [
      [{ tls: { mode: 'Terminate', certificateRefs: [{ name: 'cart' }] } }, { tls: { mode: 'Passthrough' } }],
      [
        'spec.listeners[1].tls.mode',
        'TLS mode conflicts with listeners[0], which has another mode on port 443. Not every implementation supports this. Use another port, or the same mode for both.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('tls-modes-mixed', object(value))).toEqual(expected);
  });
});
