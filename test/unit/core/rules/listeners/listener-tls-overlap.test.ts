import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
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

  test('those of which one is a wildcard that covers the other', () => {
    const label = fc.constantFrom('a', 'b', 'a-b', 'ab');
    const domain = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
    const hostname = fc.oneof(
      domain,
      domain.map((wide) => `*.${wide}`),
      fc.constant(''),
    );
    const covers = (wide: string, other: string): boolean =>
      wide !== other && (wide === '' || (wide.startsWith('*.') && other.endsWith(wide.slice(1))));
    fc.assert(
      fc.property(fc.uniqueArray(hostname, { maxLength: 12 }), (hostnames) => {
        const expected = hostnames.flatMap((one, position) =>
          hostnames.some((other) => covers(one, other) || covers(other, one))
            ? [`spec.listeners[${position}].hostname`]
            : [],
        );
        const listeners = hostnames.map((each, position) => ({ name: `l${position}`, hostname: each, ...secure }));
        expect(overlaps(...listeners).map(([path]) => path)).toEqual(expected);
      }),
    );
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
