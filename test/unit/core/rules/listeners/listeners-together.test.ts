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
  const message = (other: string, protocol: string, others: string, cure = 'port') =>
    `This listener conflicts with ${other}: protocol ${protocol} cannot share port 443 with ${others}, so neither may be accepted. Give each a ${cure} of its own.`;

  test.each<[string, readonly object[], string]>([
    ['TCP and HTTP', [plain, raw], message('web', 'TCP', 'HTTP')],
    ['HTTPS and HTTP', [plain, { ...secure, hostname: 'a.example.com' }], message('web', 'HTTPS', 'HTTP')],
    ['TLS and TCP', [raw, { ...tls, hostname: 'a.example.com' }], message('raw', 'TLS', 'TCP')],
    ['TLS and HTTPS of one host', [{ ...secure, hostname: 'a.example.com' }, { ...tls, hostname: 'A.example.com' }], message('secure', 'TLS', 'HTTPS', 'port or hostname')],
  ])('%s', (_, listeners, expected) => {
    expect(remarks('listener-conflict', gatewayWith(...listeners))).toEqual([['spec.listeners[1]', expected]]);
    expect(remarks('listener-conflict', objectOf('ListenerSet', 'v1', { parentRef: { name: 'front' }, listeners }))).toEqual([['spec.listeners[1]', expected]]);
  });

  test.each<[string, readonly object[]]>([
    ['TCP and UDP', [raw, udp]],
    ['ports of their own', [plain, { ...raw, port: 80 }]],
    ['TLS and HTTPS of two hosts', [{ ...secure, hostname: 'a.example.com' }, { ...tls, hostname: 'b.example.com' }]],
    ['one protocol', [plain, { ...plain, name: 'other', hostname: 'a.example.com' }]],
    ['a protocol that nobody knows', [plain, { ...raw, protocol: 'example.com/raw' }]],
    ['no ports', [{ name: 'a', protocol: 'HTTP' }, { name: 'b', protocol: 'TCP' }]],
  ])('%s are fine', (_, listeners) => {
    expect(remarks('listener-conflict', gatewayWith(...listeners))).toEqual([]);
  });

  test('is told once of what Sallyport serves', () => {
    const [gateway] = evaluate([gatewayWith(plain, secure), ourClass]);
    expect(gateway?.findings.filter(({ rule }) => rule === 'listener-conflict').map(({ field }) => field)).toEqual(['spec.listeners[0]', 'spec.listeners[1]']);
  });
});

describe('listener-tls-overlap, of whoever serves it', () => {
  test('a wildcard above a name', () => {
    const gateway = gatewayWith({ ...secure, hostname: 'a.example.com' }, { ...secure, name: 'all', hostname: '*.example.com' });
    expect(remarks('listener-tls-overlap', gateway)).toEqual([
      ['spec.listeners[1].hostname', "The hostname overlaps with that of secure on port 443: a client that reuses a connection may meet the other listener's TLS settings. Give the listeners hostnames that do not overlap, or make sure that their TLS settings agree."],
    ]);
  });

  test.each<[string, readonly object[]]>([
    ['two names', [{ ...secure, hostname: 'a.example.com' }, { ...secure, name: 'b', hostname: 'b.example.com' }]],
    ['plain HTTP', [plain, { ...plain, name: 'b', hostname: 'b.example.com' }]],
  ])('%s are fine', (_, listeners) => {
    expect(remarks('listener-tls-overlap', gatewayWith(...listeners))).toEqual([]);
  });
});

describe('listener-route-kinds-invalid, of layer 4, whoever serves it', () => {
  const kinds = (listener: object, ...allowed: readonly object[]) => remarks('listener-route-kinds-invalid', gatewayWith({ ...listener, allowedRoutes: { kinds: allowed } }));

  test.each<[object, string, string]>([
    [raw, 'HTTPRoute', 'A listener of protocol TCP cannot carry HTTPRoute. Name only TCPRoute, or leave kinds out.'],
    [udp, 'TCPRoute', 'A listener of protocol UDP cannot carry TCPRoute. Name only UDPRoute, or leave kinds out.'],
    [tls, 'HTTPRoute', 'A listener of protocol TLS cannot carry HTTPRoute. Name only TLSRoute, TCPRoute, or leave kinds out.'],
  ])('%j with %s', (listener, kind, message) => {
    expect(kinds(listener, { kind })).toEqual([['spec.listeners[0].allowedRoutes.kinds[0]', message]]);
  });

  test('what fits, what is of another group, and what the graph sees are fine', () => {
    expect(kinds(raw, { kind: 'TCPRoute' }, { group: 'example.com', kind: 'RawRoute' })).toEqual([]);
    expect(kinds(plain, { kind: 'TCPRoute' })).toEqual([]);
    expect(kinds({ ...raw, protocol: 'example.com/raw' }, { kind: 'HTTPRoute' })).toEqual([]);
  });
});
