import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../../support/rules.ts';

const gateway = gatewayWith(
  { name: 'exact', port: 80, protocol: 'HTTP', hostname: 'shop.example.com' },
  { name: 'wild', port: 80, protocol: 'HTTP', hostname: '*.example.org' },
);
const asked = (...hostnames: readonly string[]) =>
  found('no-matching-listener-hostname', [
    httpRoute({ parentRefs: [{ name: 'front' }], hostnames }),
    gateway,
    ourClass,
  ]);

describe('no-matching-listener-hostname', () => {
  test.each([
    'shop.example.com',
    '*.example.com',
    '*.com',
    'a.example.org',
    'a.b.example.org',
    '*.a.example.org',
    '*.org',
    'SHOP.example.com',
  ])('%s has something in common', (hostname) => {
    expect(asked(hostname)).toEqual([]);
  });

  test('no hostnames have everything in common', () => {
    expect(asked()).toEqual([]);
  });

  test.each(['example.com', 'other.example.com', 'example.org', '*.net', '*.shop.example.com'])(
    '%s has nothing in common',
    (hostname) => {
      expect(asked(hostname)).toEqual([
        [
          'spec.parentRefs[0]',
          `No hostname of the route matches a listener of Gateway "shop/front". Use a hostname that a listener allows, or attach to another parent. Listeners: exact (shop.example.com), wild (*.example.org); hostnames: ${hostname}.`,
          'Accepted NoMatchingListenerHostname parentRef',
        ],
      ]);
    },
  );

  test('names five of many hostnames', () => {
    const many = gatewayWith(
      ...Array.from({ length: 64 }, (_, index) => ({
        name: `l${index}`,
        port: 80,
        protocol: 'HTTP',
        hostname: `h${index}.example.com`,
      })),
    );
    const hostnames = Array.from({ length: 16 }, (_, index) => `r${index}.example.org`);
    const route = httpRoute({ parentRefs: [{ name: 'front' }], hostnames });
    expect(found('no-matching-listener-hostname', [route, many, ourClass])[0]?.[1]).toContain(
      'Listeners: l0 (h0.example.com), l1 (h1.example.com), l2 (h2.example.com), l3 (h3.example.com), l4 (h4.example.com) and 59 more; ' +
        'hostnames: r0.example.org, r1.example.org, r2.example.org, r3.example.org, r4.example.org and 11 more.',
    );
  });

  test('one of several is enough', () => {
    expect(asked('example.net', 'shop.example.com')).toEqual([]);
  });
});
