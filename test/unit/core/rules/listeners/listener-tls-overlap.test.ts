import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const secure = { protocol: 'HTTPS', port: 443, tls: { certificateRefs: [{ name: 'good' }] } };
const overlaps = (...listeners: readonly object[]) =>
  found('listener-tls-overlap', [gatewayWith(...listeners), ourClass]);
const message = (others: string) =>
  `Hostname overlaps with ${others} on port 443: a client that reuses a connection may get the TLS settings of the other listener. Use hostnames that do not overlap, or use equal TLS settings.`;

describe('listener-tls-overlap', () => {
  test('each of those that overlap, and only those', () => {
    const names = { a: 'foo.example.com', b: 'foo.example.org', c: '*.example.com' };
    expect(overlaps(...Object.entries(names).map(([name, hostname]) => ({ name, hostname, ...secure })))).toEqual([
      ['spec.listeners[0].hostname', message('c'), 'OverlappingTLSConfig OverlappingHostnames listener'],
      ['spec.listeners[2].hostname', message('a'), 'OverlappingTLSConfig OverlappingHostnames listener'],
    ]);
  });

  test('a listener for every host overlaps with all', () => {
    expect(
      overlaps({ name: 'any', ...secure }, { name: 'one', hostname: 'a.example.com', ...secure }).map(([path]) => path),
    ).toEqual(['spec.listeners[0].hostname', 'spec.listeners[1].hostname']);
  });

  test.each<[string, readonly object[]]>([
    [
      'another port',
      [
        { name: 'a', hostname: 'a.example.com', ...secure },
        { name: 'b', hostname: '*.example.com', ...secure, port: 8443 },
      ],
    ],
    [
      'no TLS',
      [
        { name: 'a', hostname: 'a.example.com', protocol: 'HTTP', port: 80 },
        { name: 'b', hostname: '*.example.com', protocol: 'HTTP', port: 80 },
      ],
    ],
    [
      'equal hostnames, which conflict',
      [
        { name: 'a', hostname: 'a.example.com', ...secure },
        { name: 'b', hostname: 'a.example.com', ...secure },
      ],
    ],
  ])('%s: none', (_, listeners) => {
    expect(overlaps(...listeners)).toEqual([]);
  });
});
