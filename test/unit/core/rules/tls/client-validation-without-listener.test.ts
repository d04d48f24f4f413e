import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (port: number): unknown =>
  soundGateway(
    { port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cart' }] } },
    {
      tls: {
        frontend: {
          default: {},
          perPort: [
            { port, tls: { validation: { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'partners' }] } } },
          ],
        },
      },
    },
  );

describe('client-validation-without-listener', () => {
  test.each<[number]>([[443]])('%j is fine', (value) => {
    expect(remarks('client-validation-without-listener', object(value))).toEqual([]);
  });

  test.each<[number, ...[path: string, message: string][]]>([
    [
      8443,
      [
        'spec.tls.frontend.perPort[0].port',
        'HTTPS listener with port 8443 not found in this Gateway, so the validation has no effect. Use the port of an HTTPS listener (443), unless a ListenerSet adds one.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('client-validation-without-listener', object(value))).toEqual(expected);
  });
});
