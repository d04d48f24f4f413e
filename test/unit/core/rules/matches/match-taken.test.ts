import { describe, expect, test } from '@jest/globals';
import { impactOf } from '../../../../../src/core/admission/impact.ts';
import { runToEnd, type Steps } from '../../../../../src/core/text/steps.ts';
import { formatPath } from '../../../../../src/core/resources/path.ts';
import { matchesOfListener, routesOfHostname } from '../../../../../src/core/rules/matches/match-places.ts';
import { findings } from '../../../../../src/core/rules/engine/run.ts';
import { statuses } from '../../../../../src/core/status/emit.ts';
import { candidateOf, evaluate, found, ourClass, writeOf } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

interface RouteOf {
  readonly kind?: string;
  readonly namespace?: string;
  readonly created?: string;
  readonly spec?: object;
}

/** An HTTPRoute of the middle of 2026 for every request at `front`, unless told otherwise. */
function route(
  name: string,
  { kind = 'HTTPRoute', namespace = 'shop', created = '2026-06-01T00:00:00Z', spec = {} }: RouteOf = {},
): object {
  const metadata = { name, namespace, generation: 1, creationTimestamp: created };
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind,
    metadata,
    spec: { parentRefs: [{ name: 'front', namespace: 'shop' }], rules: [{}], ...spec },
  };
}

const withMatches = (...matches: readonly object[]): RouteOf => ({ spec: { rules: [{ matches }] } });
const older = '2026-01-01T00:00:00Z';
const everybody = { namespaces: { from: 'All' } };
const front = gatewayWith(
  { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: everybody },
  { name: 'admin', port: 8080, protocol: 'HTTP', hostname: 'admin.example.com', allowedRoutes: everybody },
);
const onWeb = { parentRefs: [{ name: 'front', sectionName: 'web' }] };

/** Paths and winners of what is found in the first of some routes. */
function taken(...routes: readonly [object, ...object[]]): readonly string[] {
  return found('match-taken', [routes[0], ...routes.slice(1), front, ourClass]).map(
    ([path, message]) => `${path}: ${/: (spec\.rules\S+ of \S+ \S+) is/.exec(message)?.[1]}`,
  );
}

const byOther = (at = 'spec.rules[0].matches[0]', by = 'spec.rules[0].matches[0] of HTTPRoute "shop/other"') => [
  `${at}: ${by}`,
];

describe('match-taken', () => {
  const listeners = Array.from({ length: 64 }, (_, index) => ({
    name: `web-${index}`,
    port: 8000 + index,
    protocol: 'HTTP',
    allowedRoutes: everybody,
  }));
  const hostnames = Array.from({ length: 16 }, (_, index) => `${index}.example.com`);

  test('a route with very many matches, hostnames and listeners is compared at a limited number of places', () => {
    const matches = Array.from({ length: 32 }, (_, index) => ({ path: { type: 'Exact', value: `/${index}` } }));
    const spec = { hostnames, rules: [{ matches }] };
    const { kernel } = evaluate([
      route('cart', { spec }),
      route('other', { spec, created: older }),
      gatewayWith(...listeners),
      ourClass,
    ]);
    expect([...matchesOfListener.entries(kernel.read, 'HTTPRoute', 'shop', 'cart')]).toHaveLength(512);
  });

  test('a route of several Gateways is compared at a limited number of hostnames and listeners', () => {
    const names = ['front', 'back', 'side'];
    const gateways = names.map((name) => ({
      ...(gatewayWith(...listeners) as object),
      metadata: { namespace: 'shop', name },
    }));
    const parentRefs = names.map((name) => ({ name }));
    const { kernel } = evaluate([route('cart', { spec: { hostnames, parentRefs } }), ...gateways, ourClass]);
    const buckets = new Set<string>();
    for (const { bucket } of routesOfHostname.entries(kernel.read, 'HTTPRoute', 'shop', 'cart'))
      if (!/^(namespaces|routes|heavy|wide) /.test(bucket)) buckets.add(bucket);
    expect(buckets.size).toBe(128);
  });

  test('says which match it is, where, who has its requests and what to do', () => {
    const spec = { ...onWeb, hostnames: ['Shop.Example.com'] };
    expect(
      found('match-taken', [route('cart', { spec }), route('other', { spec, created: older }), front, ourClass]),
    ).toEqual([
      [
        'spec.rules[0].matches[0]',
        'spec.rules[0].matches[0] is shadowed on listener web of Gateway "shop/front" for shop.example.com: spec.rules[0].matches[0] of HTTPRoute "shop/other" is equal and takes precedence. The match of the oldest route takes precedence, then the first by namespace and name. Remove one of the matches, or make them different.',
        'sallyport.dev/Shadowed MatchTaken match',
      ],
    ]);
  });

  test('the oldest route comes first, then the first by namespace/name', () => {
    expect(taken(route('cart'), route('other', { created: older }))).toEqual(byOther());
    expect(taken(route('cart', { created: older }), route('other'))).toEqual([]);
    expect(taken(route('cart'), route('other'))).toEqual([]);
    expect(taken(route('z'), route('other'))).toEqual(byOther());
    // As strings: "-" comes before "/".
    expect(taken(route('a'), route('z', { namespace: 'shop-b' }))).toEqual(
      byOther(undefined, 'spec.rules[0].matches[0] of HTTPRoute "shop-b/z"'),
    );
  });

  test('of three the last two name the first', () => {
    const others = [route('first', { created: older }), route('second')] as const;
    expect(taken(route('third'), ...others)).toEqual(
      byOther(undefined, 'spec.rules[0].matches[0] of HTTPRoute "shop/first"'),
    );
    expect(taken(others[1], others[0], route('third'))).toEqual(
      byOther(undefined, 'spec.rules[0].matches[0] of HTTPRoute "shop/first"'),
    );
  });

  test.each<[string, object, object]>([
    ['what is left out is as the defaults', {}, { path: { type: 'PathPrefix', value: '/' } }],
    ['a slash at the end of a prefix', { path: { value: '/cart' } }, { path: { value: '/cart/' } }],
    ['the spelling of a path', { path: { value: '/c%61rt' } }, { path: { value: '/cart' } }],
    [
      'the order and case of headers',
      {
        headers: [
          { name: 'X-A', value: '1' },
          { name: 'x-b', value: '2' },
        ],
      },
      {
        headers: [
          { name: 'X-B', value: '2' },
          { name: 'x-a', value: '1' },
        ],
      },
    ],
    [
      'the order of query parameters',
      {
        queryParams: [
          { name: 'a', value: '1' },
          { name: 'b', value: '2' },
        ],
      },
      {
        queryParams: [
          { name: 'b', value: '2' },
          { name: 'a', value: '1' },
        ],
      },
    ],
  ])('tells nothing apart: %s', (_, own, other) => {
    expect(taken(route('cart', withMatches(own)), route('other', { ...withMatches(other), created: older }))).toEqual(
      byOther(),
    );
  });

  test.each<[string, object, object]>([
    [
      'the type of the path',
      { path: { type: 'Exact', value: '/cart' } },
      { path: { type: 'PathPrefix', value: '/cart' } },
    ],
    [
      'the slash at the end of an exact path',
      { path: { type: 'Exact', value: '/cart' } },
      { path: { type: 'Exact', value: '/cart/' } },
    ],
    ['the method', { method: 'GET' }, { method: 'POST' }],
    ['the value of a header', { headers: [{ name: 'a', value: '1' }] }, { headers: [{ name: 'a', value: '2' }] }],
    [
      'how a header is compared',
      { headers: [{ name: 'a', value: '1' }] },
      { headers: [{ name: 'a', type: 'RegularExpression', value: '1' }] },
    ],
    [
      'the case of a query parameter',
      { queryParams: [{ name: 'a', value: '1' }] },
      { queryParams: [{ name: 'A', value: '1' }] },
    ],
    [
      'a header or a query parameter',
      { headers: [{ name: 'a', value: '1' }] },
      { queryParams: [{ name: 'a', value: '1' }] },
    ],
  ])('tells them apart: %s', (_, own, other) => {
    expect(taken(route('cart', withMatches(own)), route('other', { ...withMatches(other), created: older }))).toEqual(
      [],
    );
  });

  test('rules that are the same by what was not written have no match to point at', () => {
    const calls = { kind: 'GRPCRoute' };
    expect(taken(route('cart', calls), route('other', { ...calls, created: older }))).toEqual(
      byOther('spec.rules[0].matches', 'spec.rules[0].matches[0] of GRPCRoute "shop/other"'),
    );
  });

  test('an HTTPRoute and a GRPCRoute are tried on different requests', () => {
    expect(taken(route('cart'), route('cart', { kind: 'GRPCRoute', created: older }))).toEqual([]);
    expect(taken(route('cart', { kind: 'GRPCRoute' }), route('cart', { created: older }))).toEqual([]);
  });

  test('of calls that mean the same, the one with more characters comes first, as it does in traffic', () => {
    const byMethod = { kind: 'GRPCRoute', ...withMatches({ method: { type: 'RegularExpression', method: 'Add' } }) };
    const byBoth = {
      kind: 'GRPCRoute',
      ...withMatches({ method: { type: 'RegularExpression', service: '[^/]+', method: 'Add' } }),
    };
    expect(taken(route('cart', { ...byMethod, created: older }), route('other', byBoth))).toEqual(
      byOther(undefined, 'spec.rules[0].matches[0] of GRPCRoute "shop/other"'),
    );
    expect(taken(route('other', byBoth), route('cart', { ...byMethod, created: older }))).toEqual([]);
  });

  test('only routes of one listener and hostname are in each other’s way', () => {
    const hosts = (...hostnames: readonly string[]): RouteOf => ({ spec: { ...onWeb, hostnames } });
    expect(
      taken(
        route('cart', hosts('a.example.com')),
        route('other', { ...hosts('b.example.com', '*.example.com'), created: older }),
      ),
    ).toEqual([]);
    expect(taken(route('cart', hosts('a.example.com')), route('other', { ...hosts(), created: older }))).toEqual([]);
    expect(
      taken(
        route('cart', { spec: onWeb }),
        route('other', { spec: { parentRefs: [{ name: 'front', sectionName: 'admin' }] }, created: older }),
      ),
    ).toEqual([]);
    const several = found('match-taken', [
      route('cart', { spec: { hostnames: ['a.example.com', 'b.example.com', 'admin.example.com'] } }),
      route('other', { spec: { hostnames: ['b.example.com', 'admin.example.com'] }, created: older }),
      front,
      ourClass,
    ]);
    expect(several.map(([, message]) => message)).toEqual([
      expect.stringMatching(
        /listener web of Gateway "shop\/front" for b\.example\.com: .* takes precedence\. \(2 more\) The match/,
      ),
    ]);
  });

  test('what matches nothing takes nothing, and what answers 500 in its place does', () => {
    const unknown = { path: { type: 'Glob', value: '/' } };
    expect(
      taken(route('cart'), route('other', { ...withMatches(unknown, { path: { value: '/cart' } }), created: older })),
    ).toEqual([]);
    const redirect = { type: 'RequestRedirect', requestRedirect: {} };
    const rewrite = { type: 'URLRewrite', urlRewrite: { hostname: 'a.example.com' } };
    expect(
      taken(route('cart'), route('other', { spec: { rules: [{ filters: [redirect, rewrite] }] }, created: older })),
    ).toEqual(byOther());
  });

  test('nothing is said for parents of others', () => {
    const foreign = { ...ourClass, spec: { controllerName: 'example.com/other' } };
    expect(found('match-taken', [route('cart'), route('other', { created: older }), front, foreign])).toEqual([]);
  });

  test('what a route takes from itself is left to match-repeated', () => {
    const twice = route('cart', withMatches({}, {}));
    expect(taken(twice)).toEqual([]);
    expect(taken(twice, route('other'))).toEqual([]);
    expect(taken(twice, route('other', { created: older }))).toEqual([
      ...byOther(),
      ...byOther('spec.rules[0].matches[1]'),
    ]);
  });

  test('each parent is told of its own listeners, and of nothing once it is over', () => {
    const spec = {
      parentRefs: [
        { name: 'front', sectionName: 'web' },
        { name: 'front', sectionName: 'admin' },
      ],
      hostnames: ['admin.example.com'],
    };
    const { kernel } = evaluate([
      route('cart', { spec }),
      route('other', { spec: { parentRefs: spec.parentRefs.slice(1), hostnames: spec.hostnames }, created: older }),
      front,
      ourClass,
    ]);
    const statusOf = (name: string) => shadowedOf(kernel.emitted(statuses).get(`HTTPRoute/shop/${name}`));
    expect(statusOf('cart')).toEqual([
      '',
      expect.stringContaining(
        'spec.rules[0].matches[0] is shadowed on listener admin of Gateway "shop/front" for admin.example.com: spec.rules[0].matches[0] of HTTPRoute "shop/other"',
      ),
    ]);
    expect(statusOf('other')).toEqual(['']);
    kernel.apply([
      writeOf({ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop', name: 'other' }, undefined),
    ]);
    expect(statusOf('cart')).toEqual(['', '']);
  });

  test('whoever is about to take requests from others hears of it', () => {
    const { kernel } = evaluate([
      route('cart'),
      route('other', { ...withMatches({ path: { value: '/other' } }), created: older }),
      front,
      ourClass,
    ]);
    const { resource } = candidateOf(route('other', { created: older }));
    const impact = runToEnd(
      impactOf(at(kernel.read), kernel.overlay([writeOf(resource.ref, resource)]), {
        self: 'HTTPRoute/shop/other',
        mayContinue: () => true,
      }),
    );
    expect(impact).toEqual({
      broken: [
        {
          kind: 'HTTPRoute',
          namespace: 'shop',
          name: 'cart',
          findings: [
            expect.objectContaining({
              path: ['spec', 'rules', 0, 'matches', 0],
              message: expect.stringMatching(/^spec\.rules\[0\]\.matches\[0\] is shadowed/),
            }),
          ],
        },
      ],
      more: 0,
      incomplete: false,
    });
  });

  test('who comes and goes wakes none but who named it', () => {
    const { kernel, candidates } = evaluate([
      ...Array.from({ length: 50 }, (_, number) =>
        route(`old-${number}`, { created: `2026-01-${String(1 + (number % 28)).padStart(2, '0')}T00:00:00Z` }),
      ),
      front,
      ourClass,
    ]);
    const [first] = candidates;
    const { resource } = candidateOf(route('young'));
    const { upserted } = kernel.apply([writeOf(resource.ref, resource)]).of(statuses);
    expect([...upserted.keys()].filter((key) => key.startsWith('HTTPRoute'))).toEqual(['HTTPRoute/shop/young']);
    expect(
      kernel.read
        .query(findings, 'HTTPRoute', 'shop', 'young')
        .map(({ path, value }) => `${formatPath(path)} ${value}`),
    ).toEqual([`spec.rules[0].matches[0] HTTPRoute shop/${first?.resource.ref.name}`]);
  });
});

/** What the conditions of each parent say, `''` where it has none. */
function shadowedOf(status: unknown): readonly string[] {
  const { parents } = status as {
    readonly parents: readonly {
      readonly conditions: readonly {
        readonly type: string;
        readonly status: string;
        readonly reason: string;
        readonly message: string;
      }[];
    }[];
  };
  return parents.map(({ conditions }) => {
    expect(conditions.find(({ type }) => type === 'Accepted')?.status).toBe('True');
    const shadowed = conditions.find(({ type }) => type === 'sallyport.dev/Shadowed');
    expect([undefined, 'True']).toContain(shadowed?.status);
    return shadowed?.message ?? '';
  });
}

/** What was before, known at once. */
function at<T>(reader: T): () => Steps<T> {
  return function* before() {
    yield;
    return reader;
  };
}
