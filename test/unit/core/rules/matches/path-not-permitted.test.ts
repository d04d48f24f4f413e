import { describe, expect, test } from '@jest/globals';
import { configuration } from '../../../../../src/core/routing/emit.ts';
import { evaluate, found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const open = { namespaces: { from: 'All' } };
const front = gatewayWith({ name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: open });
const host = 'shop.example.com';

interface Ownership {
  readonly hostnames?: readonly string[];
  readonly paths?: readonly unknown[];
  readonly gateways?: readonly object[];
  readonly namespaces?: unknown;
}

/** A policy for a namespace of the same name. */
const policyOf = (name: string, { hostnames = [host], ...spec }: Ownership = {}): unknown => ({
  apiVersion: 'sallyport.dev/v1alpha1',
  kind: 'HostnamePolicy',
  metadata: { name },
  spec: { hostnames, namespaces: { names: [name] }, ...spec },
});
const cartOwns = (...paths: readonly unknown[]) => policyOf('cart', { paths });

const prefix = (value: string, more: object = {}) => ({ path: { type: 'PathPrefix', value }, ...more });
const exact = (value: string) => ({ path: { type: 'Exact', value } });
const regex = (value: string) => ({ path: { type: 'RegularExpression', value } });

interface RouteOptions {
  readonly matches?: readonly object[];
  readonly hostnames?: readonly string[];
  readonly kind?: string;
}

const routeIn = (
  namespace: string,
  { matches, hostnames = [host], kind = 'HTTPRoute' }: RouteOptions = {},
): unknown => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind,
  metadata: { name: 'route', namespace },
  spec: {
    parentRefs: [{ name: 'front', namespace: 'shop' }],
    ...(hostnames.length > 0 && { hostnames }),
    rules: [{ ...(matches && { matches }) }],
  },
});

const findings = (first: unknown, ...others: readonly unknown[]) =>
  found('path-not-permitted', [first, ...others, front, ourClass]);
const refusedPaths = (first: unknown, ...others: readonly unknown[]) =>
  findings(first, ...others).map(([path, message]) => `${path}: ${/HostnamePolicy "[^"]*"/.exec(message)?.[0]}`);
const byCart = ['spec.rules[0].matches[0]: HostnamePolicy "cart"'];
const byShop = ['spec.rules[0].matches[0]: HostnamePolicy "shop"'];

describe('path-not-permitted', () => {
  test('names the path, the hostname, the Gateway, the policy and the owner', () => {
    expect(findings(routeIn('market', { matches: [prefix('/'), prefix('/cart/old')] }), cartOwns('/cart'))).toEqual([
      [
        'spec.rules[0].matches[1]',
        'Namespace "market" may not serve path prefix "/cart/old" of hostname "shop.example.com" on Gateway "shop/front": HostnamePolicy "cart" permits path prefix "/cart" of hostname "shop.example.com" only in namespace "cart". Use a path of this namespace, or add the namespace to the policy.',
        'Accepted PathNotPermitted match',
      ],
    ]);
  });

  test.each([
    ['an equal prefix', prefix('/cart')],
    ['an equal prefix with a final slash', prefix('/cart/')],
    ['a longer prefix', prefix('/cart/items')],
    ['the path itself', exact('/cart')],
    ['a path below', exact('/cart/items')],
    ['another spelling', prefix('/%63art')],
    ['a prefix with further conditions', prefix('/cart', { method: 'GET' })],
    ['an expression below', regex('/cart/[0-9]+')],
    ['an expression that matches the path', regex('/cart')],
    ['an expression that matches other paths, too', regex('/(cart|list)/.*')],
    ['an expression for every path', regex('.*')],
    ['an expression for an ending', regex(String.raw`.*\.php`)],
  ])('%s is refused', (_, match) => {
    expect(refusedPaths(routeIn('market', { matches: [match] }), cartOwns('/other', '/cart'))).toEqual(byCart);
  });

  test.each([
    ['every path, which leaves longer prefixes to others', prefix('/')],
    ['the path of the root', exact('/')],
    ['a longer name', prefix('/carts')],
    ['other case', prefix('/Cart')],
    ['a shorter prefix', prefix('/ca')],
    ['an expression for other paths', regex('/(list|carts)/.*')],
    ['an invalid expression, which matches nothing', regex('/cart(')],
  ])('%s is permitted', (_, match) => {
    expect(refusedPaths(routeIn('market', { matches: [match] }), cartOwns('/cart'))).toEqual([]);
  });

  test('the owner of the path is permitted, whatever the match is', () => {
    const matches = [prefix('/cart'), exact('/cart/x'), regex('/cart/.*'), prefix('/')];
    expect(refusedPaths(routeIn('cart', { matches }), cartOwns('/cart'))).toEqual([]);
  });

  test('a rule without matches has every path', () => {
    expect(refusedPaths(routeIn('market'), cartOwns('/cart'))).toEqual([]);
    expect(findings(routeIn('market'), cartOwns('/'))).toEqual([]);
    expect(found('hostname-not-permitted', [routeIn('market'), cartOwns('/'), front, ourClass])).toHaveLength(1);
  });

  test('the longest path decides, then the shorter one', () => {
    const others = [policyOf('shop', { paths: ['/cart'] }), policyOf('cart', { paths: ['/cart/items'] })];
    expect(refusedPaths(routeIn('shop', { matches: [prefix('/cart/items/1')] }), ...others)).toEqual(byCart);
    expect(refusedPaths(routeIn('cart', { matches: [prefix('/cart/items/1')] }), ...others)).toEqual([]);
    expect(refusedPaths(routeIn('cart', { matches: [prefix('/cart/other')] }), ...others)).toEqual(byShop);
    expect(refusedPaths(routeIn('shop', { matches: [prefix('/cart')] }), ...others)).toEqual([]);
  });

  test('policies for the same path permit the namespaces of each', () => {
    const others = [policyOf('market', { paths: ['/cart'] }), cartOwns('/cart')];
    expect(refusedPaths(routeIn('market', { matches: [prefix('/cart')] }), ...others)).toEqual([]);
    expect(findings(routeIn('depot', { matches: [prefix('/cart')] }), ...others)[0]?.[1]).toContain(
      'HostnamePolicies "cart", "market" permit path prefix "/cart" of hostname "shop.example.com" only in namespace "cart", "market".',
    );
  });

  describe('below the owner of the hostname', () => {
    const both = [policyOf('shop'), cartOwns('/cart')];

    test('the owner of the hostname serves every other path', () => {
      expect(refusedPaths(routeIn('shop', { matches: [prefix('/'), exact('/x')] }), ...both)).toEqual([]);
      expect(refusedPaths(routeIn('shop'), ...both)).toEqual([]);
      expect(refusedPaths(routeIn('shop', { matches: [prefix('/cart/x')] }), ...both)).toEqual(byCart);
    });

    test('the owner of a path takes no requests from the owner of the hostname', () => {
      const taken = (...policies: readonly unknown[]) =>
        found('requests-taken', [
          routeIn('shop'),
          routeIn('cart', { matches: [prefix('/cart')] }),
          ...policies,
          front,
          ourClass,
        ]);
      expect(taken(...both)).toEqual([]);
      expect(taken(cartOwns('/cart'))).toEqual([]);
      expect(taken(cartOwns('/other'))).toHaveLength(1);
      expect(taken()).toHaveLength(1);
    });

    test('nor does an owner that inherits the hostname of the listener', () => {
      const listener = { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: open, hostname: host };
      const taken = (...policies: readonly unknown[]) =>
        found('requests-taken', [
          routeIn('shop', { hostnames: [] }),
          routeIn('cart', { hostnames: [], matches: [prefix('/cart')] }),
          ...policies,
          gatewayWith(listener),
          ourClass,
        ]);
      expect(taken(...both)).toEqual([]);
      expect(taken(policyOf('shop'), policyOf('cart', { paths: ['/other', '/cart/x'] }))).toEqual([]);
      expect(taken(cartOwns('/other'))).toHaveLength(1);
    });

    test('the owner of the path serves only this path', () => {
      expect(refusedPaths(routeIn('cart', { matches: [prefix('/cart')] }), ...both)).toEqual([]);
      expect(refusedPaths(routeIn('cart', { matches: [prefix('/list')] }), ...both)).toEqual(byShop);
      expect(refusedPaths(routeIn('cart'), ...both)).toEqual(byShop);
      // A GRPCRoute has no default match.
      expect(refusedPaths(routeIn('cart', { kind: 'GRPCRoute' }), ...both)).toEqual([
        'spec.rules[0].matches: HostnamePolicy "shop"',
      ]);
      expect(refusedPaths(routeIn('cart', { matches: [regex('/cart(/.*)?')] }), ...both)).toEqual([]);
      expect(refusedPaths(routeIn('cart', { matches: [regex('/car[st]/.*')] }), ...both)).toEqual(byShop);
    });

    test('others get the refusal of the hostname', () => {
      const route = routeIn('market', { matches: [prefix('/cart')] });
      expect(refusedPaths(route, ...both)).toEqual([]);
      expect(found('hostname-not-permitted', [route, ...both, front, ourClass])).toHaveLength(1);
    });

    test('a refused match gets no requests, and a rule without others gets none either', () => {
      const route = routeIn('cart', { matches: [prefix('/cart'), prefix('/list')] });
      const matchesOf = (subject: unknown, kind = 'HTTPRoute') => {
        const { kernel } = evaluate([subject, ...both, front, ourClass]);
        return [...configuration.emit(kernel.read, kind, 'cart', 'route')].map(({ value }) =>
          value.kind === 'route' ? value.rules.map(({ matches }) => matches.map(({ path }) => path.value)) : [],
        );
      };
      expect(matchesOf(route)).toEqual([[['/cart']]]);
      expect(matchesOf(routeIn('cart'))).toEqual([[[]]]);
      expect(matchesOf(routeIn('cart', { kind: 'GRPCRoute' }), 'GRPCRoute')).toEqual([[[]]]);
    });
  });

  describe('with wildcards', () => {
    const everywhere = policyOf('cart', { hostnames: ['*.example.com'], paths: ['/cart'] });

    test('a more specific hostname takes the path from its owner, even by a shorter prefix', () => {
      expect(refusedPaths(routeIn('market', { matches: [prefix('/')] }), everywhere)).toEqual(byCart);
      expect(refusedPaths(routeIn('market', { matches: [prefix('/list')] }), everywhere)).toEqual([]);
      expect(refusedPaths(routeIn('cart', { matches: [prefix('/')] }), everywhere)).toEqual([]);
    });

    test('the policy with the most specific hostname decides', () => {
      const market = policyOf('market');
      expect(refusedPaths(routeIn('market', { matches: [prefix('/cart')] }), everywhere, market)).toEqual([]);
      const list = policyOf('market', { paths: ['/list'] });
      expect(refusedPaths(routeIn('market', { matches: [prefix('/list')] }), everywhere, list)).toEqual([]);
      expect(refusedPaths(routeIn('market', { matches: [prefix('/cart')] }), everywhere, list)).toEqual(byCart);
    });

    test('a wildcard needs permission for the owned paths of names below it', () => {
      const wide = { hostnames: ['*.example.com'] };
      expect(refusedPaths(routeIn('market', { ...wide, matches: [prefix('/cart/x')] }), cartOwns('/cart'))).toEqual(
        byCart,
      );
      expect(refusedPaths(routeIn('market', { ...wide, matches: [prefix('/')] }), cartOwns('/cart'))).toEqual([]);
      expect(refusedPaths(routeIn('market', { hostnames: [], matches: [exact('/cart')] }), cartOwns('/cart'))).toEqual(
        byCart,
      );
    });
  });

  test('each hostname is reported', () => {
    const hostnames = ['a.example.com', 'b.example.com', 'c.example.org'];
    const messages = findings(
      routeIn('market', { hostnames, matches: [prefix('/cart')] }),
      policyOf('cart', { hostnames: ['*.example.com'], paths: ['/cart'] }),
    ).map(([, message]) => /hostname "([^"]*)"/.exec(message)?.[1]);
    expect(messages).toEqual(['a.example.com', 'b.example.com']);
  });

  test('a policy for another Gateway does not apply', () => {
    const elsewhere = policyOf('cart', { paths: ['/cart'], gateways: [{ namespace: 'infra', name: 'front' }] });
    expect(refusedPaths(routeIn('market', { matches: [prefix('/cart')] }), elsewhere)).toEqual([]);
  });

  test('GRPCRoutes are compared by the paths of their calls', () => {
    const service = (name: string) => ({ kind: 'GRPCRoute', matches: [{ method: { service: name, method: 'Add' } }] });
    const owned = cartOwns('/shop.Cart');
    expect(refusedPaths(routeIn('market', service('shop.Cart')), owned)).toEqual(byCart);
    expect(refusedPaths(routeIn('market', service('shop.List')), owned)).toEqual([]);
    const anyService = { kind: 'GRPCRoute', matches: [{ method: { method: 'Add' } }] };
    expect(refusedPaths(routeIn('market', anyService), owned)).toEqual(byCart);
  });

  test('a GRPCRoute takes longer paths from HTTPRoutes, so it needs permission for each of them', () => {
    const grpc = (namespace: string, ...matches: readonly object[]) =>
      routeIn(namespace, { kind: 'GRPCRoute', ...(matches.length > 0 && { matches }) });
    const everyCall = ['spec.rules[0].matches: HostnamePolicy "cart"'];
    const owned = cartOwns('/cart.Cart');
    expect(refusedPaths(grpc('market'), owned)).toEqual(everyCall);
    expect(refusedPaths(grpc('market', {}), owned)).toEqual(byCart);
    expect(refusedPaths(grpc('cart'), owned)).toEqual([]);
    // The owner of the hostname would take the requests, too.
    expect(refusedPaths(grpc('shop'), owned, policyOf('shop'))).toEqual(everyCall);
    expect(refusedPaths(grpc('shop', { method: { service: 'shop.Shop' } }), owned, policyOf('shop'))).toEqual([]);
    expect(refusedPaths(grpc('market', { method: { service: 'cart.Cart' } }), cartOwns('/cart.Cart/Add'))).toEqual(
      byCart,
    );
  });

  test('matches beyond the limit of comparisons are refused', () => {
    const paths = Array.from({ length: 64 }, (_one, index) => `/${'a'.repeat(200)}/${index}`);
    const hostnames = Array.from({ length: 16 }, (_one, index) => `h${index}.example.com`);
    const policies = hostnames.map((hostname, index) =>
      policyOf(`cart${index}`, { hostnames: [hostname], paths: paths.map((path) => `${path}/${index}`) }),
    );
    const matches = (count: number) =>
      Array.from({ length: count }, (_one, index) => regex(`/${'a'.repeat(200)}/x/${index}`));
    expect(findings(routeIn('market', { hostnames, matches: matches(8) }), ...policies)).toEqual([]);
    const [first] = findings(routeIn('market', { hostnames, matches: matches(64) }), ...policies);
    expect(first?.[1]).toMatch(
      /^Sallyport cannot compare paths that match ".*" of hostname "h\d+\.example\.com" on Gateway "shop\/front" with all owned paths, because the route needs too many comparisons: HostnamePolicy "cart\d+" permits .* Use fewer regular expressions or hostnames, or split the route\.$/,
    );
  });

  test.each([
    ['unreadable paths', { paths: [7] }],
    ['paths of the wrong type', { paths: '/cart' }],
  ])('%s permit nobody to serve the hostname', (_, spec) => {
    const odd = policyOf('cart', spec as Ownership);
    expect(found('hostname-not-permitted', [routeIn('cart'), odd, front, ourClass])).toHaveLength(1);
    expect(found('hostname-not-permitted', [routeIn('market'), odd, front, ourClass])).toHaveLength(1);
  });

  test('without knowledge of the labels of a namespace, nothing is judged', () => {
    const selected = policyOf('cart', {
      paths: ['/cart'],
      namespaces: { selector: { matchLabels: { team: 'cart' } } },
    });
    const route = routeIn('market', { matches: [prefix('/cart')] });
    expect(refusedPaths(route, selected)).toEqual(byCart);
    const market = (team: string) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'market', labels: { team } },
    });
    expect(refusedPaths(route, selected, market('cart'))).toEqual([]);
    expect(refusedPaths(route, selected, market('market'))).toEqual(byCart);
  });

  test('the cost of a policy and a route of the maximum size is bounded', () => {
    const paths = Array.from({ length: 64 }, (_one, index) => `/${'a/'.repeat(60)}${index}`);
    const hostnames = Array.from({ length: 64 }, (_one, index) => `h${index}.example.com`);
    const route = {
      ...(routeIn('market') as object),
      spec: {
        parentRefs: [{ name: 'front', namespace: 'shop' }],
        hostnames: hostnames.slice(0, 16),
        rules: Array.from({ length: 16 }, () => ({
          matches: Array.from({ length: 8 }, () => prefix(paths[63] ?? '')),
        })),
      },
    };
    // Beyond 250 findings, there is only one for each of the other 112 matches.
    expect(findings(route, policyOf('cart', { hostnames, paths }))).toHaveLength(362);
  });
});

describe('what serves all paths of a hostname', () => {
  const tls = gatewayWith({
    name: 'tls',
    port: 443,
    protocol: 'TLS',
    allowedRoutes: open,
    tls: { mode: 'Passthrough' },
  });
  const tlsRoute = (namespace: string) => routeIn(namespace, { kind: 'TLSRoute' });
  const refusedRoute = (...objects: readonly [unknown, ...unknown[]]) =>
    found('hostname-not-permitted', [...objects, tls, ourClass]).map(([, message]) => message);

  test('a TLSRoute needs permission for every owned path', () => {
    expect(refusedRoute(tlsRoute('market'), cartOwns('/cart'))).toEqual([
      'Namespace "market" may not serve hostname "shop.example.com" on Gateway "shop/front": HostnamePolicy "cart" permits path prefix "/cart" of hostname "shop.example.com" only in namespace "cart". Use a hostname of this namespace, or add the namespace to the policy.',
    ]);
    expect(refusedRoute(tlsRoute('cart'), cartOwns('/cart'))).toEqual([]);
    expect(refusedRoute(tlsRoute('cart'), cartOwns('/cart'), policyOf('market', { paths: ['/list'] }))).toHaveLength(1);
  });

  test('the owner of the hostname has it', () => {
    expect(refusedRoute(tlsRoute('shop'), cartOwns('/cart'), policyOf('shop'))).toEqual([]);
    expect(refusedRoute(tlsRoute('cart'), cartOwns('/cart'), policyOf('shop'))).toHaveLength(1);
  });

  test('so does the listener of a ListenerSet', () => {
    const gateway = front as { readonly spec: object };
    const willing = { ...gateway, spec: { ...gateway.spec, allowedListeners: open } };
    const setIn = (namespace: string) => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'ListenerSet',
      metadata: { name: 'more', namespace },
      spec: {
        parentRef: { name: 'front', namespace: 'shop' },
        listeners: [{ name: 'own', port: 80, protocol: 'HTTP', hostname: host }],
      },
    });
    const refused = (namespace: string, ...policies: readonly unknown[]) =>
      found('hostname-not-permitted', [setIn(namespace), ...policies, willing, ourClass]).map(([path]) => path);
    expect(refused('market', cartOwns('/cart'))).toEqual(['spec.listeners[0].hostname']);
    expect(refused('cart', cartOwns('/cart'))).toEqual([]);
    expect(refused('cart', cartOwns('/cart'), policyOf('shop'))).toEqual(['spec.listeners[0].hostname']);
  });
});
