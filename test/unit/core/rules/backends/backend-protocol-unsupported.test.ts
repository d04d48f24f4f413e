import { describe, expect, test } from '@jest/globals';
import { found, serviceWith } from '../../../../support/evaluation.ts';
import { backendTlsPolicy } from '../../../../support/backend-tls.ts';
import { routeWith } from '../../../../support/rules.ts';

const asked = (port: object) =>
  found('backend-protocol-unsupported', [
    routeWith({ backendRefs: [{ name: 'cart', port: 8080 }] }),
    serviceWith({ ports: [{ port: 8080, ...port }] }),
  ]);

describe('backend-protocol-unsupported', () => {
  test('of two ports with one number the one that TCP reaches counts', () => {
    const ports = [
      { name: 'datagrams', port: 8080, protocol: 'UDP' },
      { name: 'web', port: 8080 },
    ];
    expect(
      found('backend-protocol-unsupported', [
        routeWith({ backendRefs: [{ name: 'cart', port: 8080 }] }),
        serviceWith({ ports }),
      ]),
    ).toEqual([]);
  });

  test.each([
    {},
    { protocol: 'TCP' },
    { appProtocol: 'http' },
    { appProtocol: 'HTTP' },
    { appProtocol: 'kubernetes.io/http' },
    { appProtocol: 'kubernetes.io/h2c' },
    { appProtocol: 'kubernetes.io/ws' },
    { appProtocol: 'grpc' },
  ])('%j is fine', (port) => {
    expect(asked(port)).toEqual([]);
  });

  test.each<[object, string]>([
    [{ protocol: 'UDP' }, 'UDP'],
    [{ protocol: 'SCTP', appProtocol: 'http' }, 'SCTP'],
    [{ appProtocol: 'toString' }, 'toString'],
  ])('%j', (port, protocol) => {
    expect(asked(port)).toEqual([
      [
        'spec.rules[0].backendRefs[0]',
        `Port 8080 of Service "shop/cart" uses protocol ${protocol}, which is unsupported for this route, so its share of requests is answered with 500. Use a TCP port with no appProtocol, http or kubernetes.io/h2c.`,
        'ResolvedRefs UnsupportedProtocol backendRef',
      ],
    ]);
  });

  test.each([
    [
      'UDPRoute',
      { ports: [{ port: 53 }] },
      [
        'Port 53 of Service "shop/cart" uses protocol TCP, which is unsupported for this route, so its share of datagrams is dropped. Use a port with protocol: UDP.',
      ],
    ],
    [
      'TCPRoute',
      { ports: [{ port: 53, protocol: 'UDP' }] },
      [
        'Port 53 of Service "shop/cart" uses protocol UDP, which is unsupported for this route, so its share of connections is reset. Use a TCP port with no appProtocol, http or kubernetes.io/h2c.',
      ],
    ],
    [
      'UDPRoute',
      {
        ports: [
          { name: 'tcp', port: 53 },
          { name: 'udp', port: 53, protocol: 'UDP' },
        ],
      },
      [],
    ],
    [
      'TCPRoute',
      {
        ports: [
          { name: 'udp', port: 53, protocol: 'UDP' },
          { name: 'tcp', port: 53, appProtocol: 'https' },
        ],
      },
      [],
    ],
  ])('a %s needs a port of its transport, and takes any appProtocol: %j', (kind, spec, messages) => {
    const route = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind,
      metadata: { name: 'dns', namespace: 'shop' },
      spec: { rules: [{ backendRefs: [{ name: 'cart', port: 53 }] }] },
    };
    expect(found('backend-protocol-unsupported', [route, serviceWith(spec)]).map(([, message]) => message)).toEqual(
      messages,
    );
  });

  test.each(['kubernetes.io/wss', 'HTTPS'])('%s needs somebody who says how to check certificates', (appProtocol) => {
    expect(asked({ appProtocol })).toEqual([
      [
        'spec.rules[0].backendRefs[0]',
        `Port 8080 of Service "shop/cart" uses protocol ${appProtocol}, but no BackendTLSPolicy targets it, so its share of requests is answered with 500. Create a BackendTLSPolicy that targets the Service.`,
        'ResolvedRefs UnsupportedProtocol backendRef',
      ],
    ]);
    const route = routeWith({ backendRefs: [{ name: 'cart', port: 8080 }] });
    expect(
      found('backend-protocol-unsupported', [
        route,
        serviceWith({ ports: [{ port: 8080, appProtocol }] }),
        backendTlsPolicy('secure'),
      ]),
    ).toEqual([]);
  });
});
