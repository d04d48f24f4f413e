import { describe, expect, test } from '@jest/globals';
import { evaluate } from '../../../../../src/library/index.ts';
import { ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith, objectOf, remarks } from '../../../../support/rules.ts';

const plain = { name: 'web', port: 443, protocol: 'HTTP' };
const raw = { name: 'raw', port: 443, protocol: 'TCP' };
const secure = { name: 'secure', port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cart' }] } };
const tls = { name: 'tls', port: 443, protocol: 'TLS', tls: { mode: 'Passthrough' } };
const udp = { name: 'udp', port: 443, protocol: 'UDP' };

describe('listener-conflict, of whoever serves it', () => {
  const message = (other: string, protocol: string, others: string, cure = 'ports') =>
    `Listener conflicts with ${other}: protocols ${protocol} and ${others} cannot share port 443, so neither is accepted. Use distinct ${cure}.`;

  test.each<[string, readonly object[], string]>([
    ['TCP and HTTP', [plain, raw], message('web', 'TCP', 'HTTP')],
    ['HTTPS and HTTP', [plain, { ...secure, hostname: 'a.example.com' }], message('web', 'HTTPS', 'HTTP')],
    ['TLS and TCP', [raw, { ...tls, hostname: 'a.example.com' }], message('raw', 'TLS', 'TCP')],
    [
      'TLS and HTTPS of one host',
      [
        { ...secure, hostname: 'a.example.com' },
        { ...tls, hostname: 'A.example.com' },
      ],
      message('secure', 'TLS', 'HTTPS', 'ports or hostnames'),
    ],
  ])('%s', (_, listeners, expected) => {
    expect(remarks('listener-conflict', gatewayWith(...listeners))).toEqual([['spec.listeners[1]', expected]]);
    expect(
      remarks('listener-conflict', objectOf('ListenerSet', 'v1', { parentRef: { name: 'front' }, listeners })),
    ).toEqual([['spec.listeners[1]', expected]]);
  });

  test.each<[string, readonly object[]]>([
    ['TCP and UDP', [raw, udp]],
    ['ports of their own', [plain, { ...raw, port: 80 }]],
    [
      'TLS and HTTPS of two hosts',
      [
        { ...secure, hostname: 'a.example.com' },
        { ...tls, hostname: 'b.example.com' },
      ],
    ],
    ['one protocol', [plain, { ...plain, name: 'other', hostname: 'a.example.com' }]],
    ['a protocol that nobody knows', [plain, { ...raw, protocol: 'example.com/raw' }]],
    [
      'no ports',
      [
        { name: 'a', protocol: 'HTTP' },
        { name: 'b', protocol: 'TCP' },
      ],
    ],
  ])('%s are fine', (_, listeners) => {
    expect(remarks('listener-conflict', gatewayWith(...listeners))).toEqual([]);
  });

  test('is told once of what Sallyport serves', () => {
    const [gateway] = evaluate([gatewayWith(plain, secure), ourClass]);
    expect(gateway?.findings.filter(({ rule }) => rule === 'listener-conflict').map(({ field }) => field)).toEqual([
      'spec.listeners[0]',
      'spec.listeners[1]',
    ]);
  });
});

describe('listener-tls-overlap, of whoever serves it', () => {
  test('a wildcard above a name', () => {
    const gateway = gatewayWith(
      { ...secure, hostname: 'a.example.com' },
      { ...secure, name: 'all', hostname: '*.example.com' },
    );
    expect(remarks('listener-tls-overlap', gateway)).toEqual([
      [
        'spec.listeners[1].hostname',
        'Hostname overlaps with secure on port 443: a client that reuses a connection may get the TLS settings of the other listener. Use hostnames that do not overlap, or use equal TLS settings.',
      ],
    ]);
  });

  test.each<[string, readonly object[]]>([
    [
      'two names',
      [
        { ...secure, hostname: 'a.example.com' },
        { ...secure, name: 'b', hostname: 'b.example.com' },
      ],
    ],
    ['plain HTTP', [plain, { ...plain, name: 'b', hostname: 'b.example.com' }]],
  ])('%s are fine', (_, listeners) => {
    expect(remarks('listener-tls-overlap', gatewayWith(...listeners))).toEqual([]);
  });
});

describe('listener-route-kinds-invalid, of layer 4, whoever serves it', () => {
  const kinds = (listener: object, ...allowed: readonly object[]) =>
    remarks('listener-route-kinds-invalid', gatewayWith({ ...listener, allowedRoutes: { kinds: allowed } }));

  test.each<[object, string, string]>([
    [raw, 'HTTPRoute', 'Unsupported route kind HTTPRoute for protocol TCP. Use only TCPRoute, or remove kinds.'],
    [udp, 'TCPRoute', 'Unsupported route kind TCPRoute for protocol UDP. Use only UDPRoute, or remove kinds.'],
    [
      tls,
      'HTTPRoute',
      'Unsupported route kind HTTPRoute for protocol TLS. Use only TLSRoute, TCPRoute, or remove kinds.',
    ],
  ])('%j with %s', (listener, kind, message) => {
    expect(kinds(listener, { kind })).toEqual([['spec.listeners[0].allowedRoutes.kinds[0]', message]]);
  });

  test('what fits, what is of another group, and what the graph sees are fine', () => {
    expect(kinds(raw, { kind: 'TCPRoute' }, { group: 'example.com', kind: 'RawRoute' })).toEqual([]);
    expect(kinds(plain, { kind: 'TCPRoute' })).toEqual([]);
    expect(kinds({ ...raw, protocol: 'example.com/raw' }, { kind: 'HTTPRoute' })).toEqual([]);
  });
});
