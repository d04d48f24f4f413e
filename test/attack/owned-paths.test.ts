import * as fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { outcomesOf, settledDecision } from '../../src/core/routing/decision/outcome.ts';
import { configuration } from '../../src/core/routing/emit.ts';
import { hasPathPrefix, normalizePath } from '../../src/core/text/path.ts';
import { evaluate, ourClass } from '../support/evaluation.ts';
import { isFull } from './support/scale.ts';

const host = 'shop.example.com';
const gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { namespace: 'infra', name: 'front' },
  spec: {
    gatewayClassName: 'sallyport',
    listeners: [{ name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }],
  },
};

/** The namespace of the same name owns what `spec` contains. */
function policy(name: string, spec: object): object {
  return {
    apiVersion: 'sallyport.dev/v1alpha1',
    kind: 'HostnamePolicy',
    metadata: { name },
    spec: { namespaces: { names: [name] }, ...spec },
  };
}

/** A route with one rule, called like its namespace. Others precede it if they are older. */
function route(kind: string, namespace: string, { hostnames, matches, year }: Parts): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind,
    metadata: { namespace, name: namespace, creationTimestamp: `${year}-01-01T00:00:00Z` },
    spec: {
      parentRefs: [{ namespace: 'infra', name: 'front' }],
      ...(hostnames && { hostnames }),
      rules: [{ matches, backendRefs: [{ name: 'a', port: 80 }] }],
    },
  };
}

interface Parts {
  readonly hostnames: readonly string[] | undefined;
  readonly matches: readonly object[];
  readonly year: number;
}

const segments = ['cart', 'Cart', 'ca%72t', 'carts', 'cart;a', 'cart%21', 'cart%2F', '%2fcart', '%2F', 'a', 'list', ''];
const dots = ['.', '..', '%2e%2e', '%2E'];
const path = fc
  .array(fc.constantFrom(...segments, ...dots), { minLength: 1, maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`);
const narrow = [
  '/',
  'cart',
  'c',
  '(cart|list)',
  'ca(rt)?',
  '[/c]art',
  '(?i:CART)',
  String.raw`\x63art`,
  '%2F',
  '^',
  '$',
];
const wide = ['.*', '.', '[a-z]+', '[^/]+', '[^a]', String.raw`\w+`, '[[:alpha:]]+', '/+', '|', '(a|)', 'x?'];
const expression = fc
  .array(fc.constantFrom(...narrow, ...wide), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join(''));
const pathMatch = fc.oneof(
  fc.record({ type: fc.constantFrom('PathPrefix', 'Exact'), value: path }),
  fc.record({
    type: fc.constant('RegularExpression'),
    value: fc.oneof(
      expression,
      expression.map((text) => `/${text}`),
    ),
  }),
);
const httpMatch = fc.record({ path: pathMatch, method: fc.constantFrom('GET', 'POST') }, { requiredKeys: ['path'] });
const grpcMatch = fc.record({
  method: fc.record(
    {
      type: fc.constantFrom('Exact', 'RegularExpression'),
      service: fc.constantFrom('cart', 'list', 'c.*', 'ca(rt)?', '.*', ''),
      method: fc.constantFrom('a', '.*', ''),
    },
    { requiredKeys: ['type'] },
  ),
});
const hostnames = fc.constantFrom([host], ['*.example.com'], [host, '*.example.com'], ['*.com'], undefined);
const year = fc.constantFrom(2025, 2027);
const hostileRoute = fc.oneof(
  fc
    .record({ hostnames, year, matches: fc.array(httpMatch, { maxLength: 3 }) })
    .map((parts) => route('HTTPRoute', 'market', parts)),
  fc
    .record({ hostnames, year, matches: fc.array(grpcMatch, { maxLength: 2 }) })
    .map((parts) => route('GRPCRoute', 'market', parts)),
);

/** The key of the route that gets a request. */
function routeOf(resources: Parameters<typeof outcomesOf>[0], requested: string, isCall: boolean): string | undefined {
  const [outcome] = outcomesOf(resources, {
    protocol: 'HTTP',
    port: 80,
    serverName: undefined,
    authority: host,
    host,
    path: requested,
    search: '',
    method: isCall ? 'POST' : 'GET',
    remainingHops: undefined,
    hops: 0,
    header: (name) => (isCall && name === 'content-type' ? 'application/grpc' : undefined),
    query: () => undefined,
  });
  const decision = outcome && settledDecision(outcome.decision);
  return decision !== undefined && 'taken' in decision ? decision.taken.matched.route.key : undefined;
}

test('no route takes requests for a path from the owner of the path', () => {
  let others = 0;
  const owned = fc.constantFrom([host], ['*.example.com'], ['*']);
  fc.assert(
    fc.property(
      hostileRoute,
      fc.array(path, { maxLength: 8 }),
      owned,
      fc.boolean(),
      (hostile, paths, where, isCall) => {
        const matches = [{ path: { type: 'PathPrefix', value: '/cart' } }];
        const owner = route('HTTPRoute', 'cart', { hostnames: [host], matches, year: 2026 });
        const cart = policy('cart', { hostnames: where, paths: ['/cart'] });
        const { kernel } = evaluate([ourClass, gateway, cart, owner, hostile]);
        const resources = [...kernel.emitted(configuration).values()];
        for (const text of [...paths, '/cart', '/cart/', '/cart/a', '/cart//', '/cart/%2F', '/cart/cart/list']) {
          const normalized = normalizePath(text);
          if (!normalized.ok) continue;
          const found = routeOf(resources, normalized.path, isCall);
          if (hasPathPrefix(normalized.path, '/cart'))
            expect([text, found]).toEqual([text, 'route/HTTPRoute/cart/cart']);
          else if (found?.includes('/market/') === true) others += 1;
        }
      },
    ),
    { numRuns: isFull ? 3_000 : 150, seed: 7 },
  );
  // The hostile routes serve other paths.
  expect(others).toBeGreaterThan(0);
}, 300_000);
