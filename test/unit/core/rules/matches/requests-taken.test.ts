import { describe, expect, test } from '@jest/globals';
import type { Reader } from '../../../../../src/core/incremental/index.ts';
import { takenRequests, winnersOfRequests } from '../../../../../src/core/rules/matches/taken-requests.ts';
import { candidateOf, evaluate, found, ourClass, writeOf } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const open = { namespaces: { from: 'All' } };
const front = gatewayWith(
  { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: open },
  { name: 'admin', port: 81, protocol: 'HTTP', allowedRoutes: open },
  { name: 'tls', port: 443, protocol: 'TLS', allowedRoutes: open, tls: { mode: 'Passthrough' } },
);

interface RouteOptions {
  readonly hostnames?: readonly string[];
  readonly matches?: readonly object[];
  readonly listener?: string;
  readonly kind?: string;
}

function routeIn(namespace: string, options: RouteOptions = {}, name = 'cart'): unknown {
  const { hostnames, matches, listener = 'web', kind = 'HTTPRoute' } = options;
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind,
    metadata: { name, namespace, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      parentRefs: [{ name: 'front', namespace: 'shop', sectionName: listener }],
      ...(hostnames && { hostnames }),
      rules: [{ ...(matches && { matches }) }],
    },
  };
}

const prefix = (value: string, more: object = {}) => ({ path: { type: 'PathPrefix', value }, ...more });
const exact = (value: string, more: object = {}) => ({ path: { type: 'Exact', value }, ...more });
const regex = (value: string) => ({ path: { type: 'RegularExpression', value } });
const header = (value: string) => ({ headers: [{ name: 'x-team', value }] });

/** What the first route loses to the others. */
const lost = (subject: RouteOptions, ...others: readonly unknown[]) =>
  found('requests-taken', [routeIn('shop', subject), front, ourClass, ...others]).map(([path, message]) => [
    path,
    message.slice(0, message.indexOf(' This is correct')),
  ]);
const host = ['shop.example.com'];
const wild = ['*.example.com'];

describe('requests-taken', () => {
  test('by a more specific hostname', () => {
    expect(lost({ hostnames: wild }, routeIn('market', { hostnames: host }))).toEqual([
      [
        'spec.rules[0].matches[0]',
        'HTTPRoute "market/cart" gets requests of spec.rules[0].matches[0] on listener web of Gateway "shop/front": requests for shop.example.com go to its spec.rules[0].matches[0], because its hostname is more specific.',
      ],
    ]);
  });

  test('from a route without hostnames, with a narrower path', () => {
    expect(
      lost({ matches: [prefix('/a')] }, routeIn('market', { hostnames: host, matches: [prefix('/a/b')] })),
    ).toEqual([
      [
        'spec.rules[0].matches[0]',
        'HTTPRoute "market/cart" gets requests of spec.rules[0].matches[0] on listener web of Gateway "shop/front": requests for shop.example.com with path prefix "/a/b" go to its spec.rules[0].matches[0], because its hostname is more specific.',
      ],
    ]);
  });

  test('by a more specific path', () => {
    const subject = { hostnames: host, matches: [prefix('/other'), prefix('/a')] };
    expect(lost(subject, routeIn('market', { hostnames: host, matches: [exact('/a/b')] }))).toEqual([
      [
        'spec.rules[0].matches[1]',
        'HTTPRoute "market/cart" gets requests of spec.rules[0].matches[1] on listener web of Gateway "shop/front": requests with path "/a/b" go to its spec.rules[0].matches[0], because its path is more specific.',
      ],
    ]);
  });

  test('by conditions for the same path', () => {
    expect(
      lost({ hostnames: host }, routeIn('market', { hostnames: host, matches: [prefix('/', header('a'))] })),
    ).toEqual([
      [
        'spec.rules[0].matches[0]',
        'HTTPRoute "market/cart" gets requests of spec.rules[0].matches[0] on listener web of Gateway "shop/front": requests with its method, headers or query parameters go to its spec.rules[0].matches[0], because it has further conditions for the same path.',
      ],
    ]);
  });

  test('connections of a TLSRoute', () => {
    const tls = { kind: 'TLSRoute', listener: 'tls' };
    expect(lost({ ...tls, hostnames: wild }, routeIn('market', { ...tls, hostnames: host }))).toEqual([
      [
        'spec.rules[0]',
        'TLSRoute "market/cart" gets connections of the route on listener tls of Gateway "shop/front": connections for shop.example.com go to it, because its hostname is more specific.',
      ],
    ]);
  });

  test.each([
    ['an exact path and its prefix', [prefix('/a')], [exact('/a')]],
    ['a regular expression and every path', [prefix('/')], [regex('/a.*')]],
    ['a prefix of several segments', [prefix('/a')], [prefix('/a/b/c/')]],
    ['a narrower path with conditions', [prefix('/a')], [prefix('/a/b', header('a'))]],
    ['equal conditions', [prefix('/a', header('a'))], [prefix('/a/b', header('a'))]],
    ['conditions and a narrower path without', [prefix('/a', header('a'))], [prefix('/a/b')]],
  ])('%s compete for a hostname', (_, own, other) => {
    const [subject, rival] = [
      { hostnames: host, matches: own },
      { hostnames: host, matches: other },
    ];
    expect(lost(subject, routeIn('market', rival))).toHaveLength(1);
    expect(lost(rival, routeIn('market', subject))).toEqual([]);
    expect(lost(subject, routeIn('shop', rival, 'second'))).toEqual([]);
    expect(lost(subject, routeIn('market', { ...rival, listener: 'admin' }))).toEqual([]);
    expect(lost(subject, routeIn('market', { ...rival, hostnames: ['other.example.com'] }))).toEqual([]);
  });

  test.each([
    ['a path beside it', [prefix('/a')], [prefix('/b')]],
    ['a path with the same beginning', [prefix('/a')], [prefix('/ab')]],
    ['an exact path of the same kind', [exact('/a')], [exact('/a/b')]],
    ['different conditions', [prefix('/a', header('a'))], [prefix('/a/b', header('b'))]],
    ['an equal match, which match-taken reports', [prefix('/a')], [prefix('/a')]],
    ['a regular expression that may match', [prefix('/a')], [regex('/a.*')]],
  ])('%s takes nothing', (_, own, other) => {
    expect(lost({ hostnames: host, matches: own }, routeIn('market', { hostnames: host, matches: other }))).toEqual([]);
  });

  test.each([
    ['its own path', '/a/b'],
    ['a narrower path', '/a/b/c'],
    ['a wider path', '/a'],
    ['every path', '/'],
  ])('a more specific hostname with %s', (_, path) => {
    const subject = { hostnames: wild, matches: [prefix('/a/b')] };
    expect(lost(subject, routeIn('market', { hostnames: host, matches: [prefix(path)] }))).toHaveLength(1);
    expect(lost(subject, routeIn('market', { hostnames: host, matches: [prefix('/b')] }))).toEqual([]);
  });

  describe('with owners of hostnames', () => {
    const policy = (hostname: string, ...names: readonly string[]): unknown => ({
      apiVersion: 'sallyport.dev/v1alpha1',
      kind: 'HostnamePolicy',
      metadata: { name: `${names[0]}-${hostname.length}` },
      spec: { hostnames: [hostname], namespaces: { names } },
    });
    const specific = routeIn('market', { hostnames: host });

    test('the owner of a hostname takes nothing from the owner of a wider one', () => {
      const owners = [policy('shop.example.com', 'market'), policy('*.example.com', 'shop')];
      expect(lost({ hostnames: wild }, specific, ...owners)).toEqual([]);
      expect(lost({ hostnames: wild }, specific, policy('shop.example.com', 'market', 'shop'))).toEqual([]);
    });

    test('nor does that of a wildcard, with a TLSRoute', () => {
      const tls = { kind: 'TLSRoute', listener: 'tls' };
      const owners = [policy('*.example.com', 'market'), policy('*', 'shop')];
      expect(lost({ ...tls }, routeIn('market', { ...tls, hostnames: host }), ...owners)).toEqual([]);
    });

    test('an owner of the wider hostname takes requests from the other one', () => {
      const both = policy('*.example.com', 'shop', 'market');
      expect(lost({ hostnames: wild }, specific, both)).toHaveLength(1);
      expect(lost({ hostnames: wild }, specific, policy('*', 'shop', 'market'))).toHaveLength(1);
    });

    test('the hostname of the listener counts for a route without hostnames', () => {
      const listener = { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: open, hostname: '*.example.com' };
      const taken = (...policies: readonly unknown[]) =>
        found('requests-taken', [routeIn('shop'), gatewayWith(listener), ourClass, specific, ...policies]);
      expect(taken(policy('*.example.com', 'shop', 'market'))).toHaveLength(1);
      expect(taken(policy('*.example.com', 'shop'), policy('shop.example.com', 'market'))).toEqual([]);
    });

    test('a more specific path of the same hostname still takes requests', () => {
      const owners = policy('shop.example.com', 'shop', 'market');
      expect(
        lost({ hostnames: host }, routeIn('market', { hostnames: host, matches: [prefix('/cart')] }), owners),
      ).toHaveLength(1);
    });
  });

  test('a route of its own namespace does not hide those of others', () => {
    for (const namespace of ['a', 'market', 'zebra'])
      expect(
        lost(
          {},
          routeIn('shop', { hostnames: ['own.example.com'] }, 'own'),
          routeIn(namespace, { hostnames: host }),
        ).map(([, message]) => message),
      ).toEqual([expect.stringContaining(`HTTPRoute "${namespace}/cart" gets requests`)]);
  });

  test('a GRPCRoute and an HTTPRoute do not compete', () => {
    expect(lost({}, routeIn('market', { kind: 'GRPCRoute', hostnames: host }))).toEqual([]);
  });

  test('a route that is not served takes nothing', () => {
    const broken = routeIn('market', { hostnames: host }) as { readonly spec: object };
    expect(lost({}, { ...broken, spec: { ...broken.spec, rules: 'none' } })).toEqual([]);
  });

  test('a further route costs the same with any number of others', () => {
    const costOf = (count: number) => {
      const others = Array.from({ length: count }, (_, index) =>
        routeIn(`team-${index}`, { hostnames: [`${index}.example.com`] }),
      );
      const { kernel } = evaluate([routeIn('shop'), front, ourClass, ...others]);
      const before = kernel.statistics();
      const { resource } = candidateOf(routeIn('team-new', { hostnames: ['new.example.com'] }));
      kernel.apply([writeOf(resource.ref, resource)]);
      const { recomputations, marks } = kernel.statistics();
      return { recomputations: recomputations - before.recomputations, marks: marks - before.marks };
    };
    const few = costOf(2);
    expect(few.recomputations).toBeGreaterThan(0);
    expect(costOf(40)).toEqual(few);
  });

  test.each([
    ['hostname', (index: number) => ({ hostnames: [`${index}.example.com`], matches: [prefix(`/${index}`)] }), {}],
    ['path', (index: number) => ({ hostnames: host, matches: [prefix(`/${index}`)] }), { hostnames: host }],
  ])('a route that loses requests by %s costs the same with very many others', (_, other, subject) => {
    const costOf = (count: number) => {
      const others = Array.from({ length: count }, (_, index) => routeIn('market', other(index), `cart-${index}`));
      const { kernel } = evaluate([front, ourClass, ...others]);
      const before = kernel.statistics();
      const { resource } = candidateOf(routeIn('shop', subject));
      kernel.apply([writeOf(resource.ref, resource)]);
      kernel.read.query(takenRequests, 'HTTPRoute', 'shop', 'cart');
      const { recomputations, marks } = kernel.statistics();
      return recomputations - before.recomputations + marks - before.marks;
    };
    expect(costOf(1_030)).toBeLessThanOrEqual(costOf(2));
  });

  test('a route that takes requests costs the same with very many others', () => {
    const { kernel } = evaluate([
      front,
      ourClass,
      ...Array.from({ length: 1_030 }, (_, index) => routeIn('shop', {}, `cart-${index}`)),
    ]);
    const before = kernel.statistics();
    const { resource } = candidateOf(routeIn('market', { hostnames: host }));
    kernel.apply([writeOf(resource.ref, resource)]);
    const { recomputations, marks } = kernel.statistics();
    expect(recomputations + marks - before.recomputations - before.marks).toBeLessThan(100);
  });

  test('a route whose hostnames have very many labels looks up a limited number of wider ones', () => {
    const { kernel } = evaluate([routeIn('shop'), front, ourClass]);
    const before = kernel.statistics().buckets;
    const hostnames = Array.from({ length: 16 }, (_, index) => `a.b${`.${index}`.repeat(80)}.com`);
    const { resource } = candidateOf(routeIn('market', { hostnames }));
    kernel.apply([writeOf(resource.ref, resource)]);
    expect(kernel.statistics().buckets - before).toBeLessThan(600);
  });

  test('a route with very many matches contributes a limited number of entries', () => {
    const matches = Array.from({ length: 64 }, (_, index) =>
      prefix(`/a/b/c/d/e/f/g/h/i/j/k/l/m/${index}`, header('a')),
    );
    const hostnames = Array.from({ length: 16 }, (_, index) => `${index}.example.com`);
    const { kernel } = evaluate([routeIn('shop'), front, ourClass, routeIn('market', { hostnames, matches })]);
    const entries = [...winnersOfRequests.entries(kernel.read, 'HTTPRoute', 'market', 'cart')];
    expect(entries).toHaveLength(4096);
  });

  test.each([
    ['hostnames', {}],
    ['a hostname', { hostnames: host }],
  ])('many routes with very many matches and %s of their own contribute a limited number of entries', (_, subject) => {
    const matches = Array.from({ length: 64 }, (__, index) =>
      prefix(`/a/b/c/d/e/f/g/h/i/j/k/l/m/${index}`, header('a')),
    );
    const hostnames = Array.from({ length: 16 }, (__, index) => `${index}.example.com`);
    const names = Array.from({ length: 40 }, (__, index) => `cart-${index}`);
    const others = names.map((name) =>
      routeIn('market', { hostnames: 'hostnames' in subject ? host : hostnames, matches }, name),
    );
    const { kernel } = evaluate([routeIn('shop', subject), front, ourClass, ...others]);
    const counts = names.map((name) => [...winnersOfRequests.entries(kernel.read, 'HTTPRoute', 'market', name)].length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(65_536);
  });

  test('a route looks up a limited number of matches that may get its requests', () => {
    const deep = Array.from({ length: 64 }, (_, index) => prefix(`/a/b/c/d/e/f/g/h/i/j/k/l/m/${index}`, header('a')));
    const hostnames = Array.from({ length: 16 }, (_, index) => `*.${index}.example.com`);
    const { kernel } = evaluate([routeIn('shop', { hostnames, matches: deep }), front, ourClass, routeIn('market')]);
    let lookups = 0;
    const { read } = kernel;
    const counting: Reader = {
      input: (input, ...args) => read.input(input, ...args),
      query: (query, ...args) => read.query(query, ...args),
      list: (index, bucket) => read.list(index, bucket),
      count: (index, bucket) => read.count(index, bucket),
      several: (index, bucket) => read.several(index, bucket),
      many: (index, bucket) => read.many(index, bucket),
      first: (index, bucket) => {
        if (index === winnersOfRequests) lookups++;
        return read.first(index, bucket);
      },
      last: (index, bucket) => read.last(index, bucket),
    };
    takenRequests.compute(counting, 'HTTPRoute', 'shop', 'cart');
    expect(lookups).toBeGreaterThan(0);
    expect(lookups).toBeLessThanOrEqual(4096);
  });
});
