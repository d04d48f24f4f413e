import { describe, expect, test } from '@jest/globals';
import { compareRouting, type RoutingChange } from '../../../../src/core/impact/routing.ts';
import type {
  ConfigKey,
  ConfigResource,
  Layer4RouteConfig,
  RouteBackend,
  RouteConfig,
  RouteFilter,
  RouteMatch,
  Session,
} from '../../../../src/core/routing/config.ts';
import { authorizedBy } from '../../../support/authorization.ts';
import { endpointsConfig, listenerConfig } from '../../../support/config.ts';
import { routeConfig, routeMatch } from '../../../support/routes.ts';

const web = listenerConfig('web');
const secure = listenerConfig('secure', {
  port: 8443,
  protocol: 'HTTPS',
  hostname: '*.example.com',
  certificates: ['shop/good'],
});

function backend(service: string, weight = 1): RouteBackend {
  return { weight, target: { type: 'endpoints', key: `endpoints/shop/${service}/80` }, filters: [] };
}

interface Parts extends Partial<Omit<RouteConfig, 'rules'>> {
  readonly matches?: readonly Partial<RouteMatch>[];
  readonly filters?: readonly RouteFilter[];
  readonly backends?: readonly RouteBackend[];
  readonly failure?: string;
  readonly session?: Session;
}

const invalid: RouteBackend = { weight: 1, target: { type: 'invalid', reason: 'absent' }, filters: [] };
const unknown: RouteBackend = {
  weight: 1,
  target: { type: 'invalid', reason: 'unobserved', unobserved: { kind: 'Service', namespace: 'shop' } },
  filters: [],
};

/** The route `shop/cart` at the listener `web` with one rule; it sends requests to `cart` unless told. */
function cart({
  matches = [{}],
  filters = [],
  backends = [backend('cart')],
  failure,
  session,
  ...parts
}: Parts = {}): RouteConfig {
  const rule = {
    index: 0,
    matches: matches.map((match, index) => routeMatch({ ...match, index })),
    filters,
    backends,
    ...(session === undefined ? {} : { session }),
  };
  return routeConfig('shop/cart', {
    attachments: [{ listener: web.key, hostnames: [''] }],
    rules: [failure === undefined ? rule : { ...rule, failure }],
    ...parts,
  });
}

function configurationOf(resources: readonly ConfigResource[]): ReadonlyMap<ConfigKey, ConfigResource> {
  return new Map(resources.map((resource) => [resource.key, resource]));
}

function compare(before: readonly ConfigResource[], after: readonly ConfigResource[]): readonly RoutingChange[] {
  return compareRouting(configurationOf(before), configurationOf(after)).changes;
}

const session: Session = {
  type: 'cookie',
  identity: 'HTTPRoute/shop/cart 0',
  name: 'cart',
  path: '/',
  permanent: false,
};
const endpoints = [endpointsConfig('cart', 8080), endpointsConfig('next', 8081)];
const toCart = { weight: 1, total: 1, backend: 'shop/cart/80', target: 'any.example/' };
const forwarded = { rule: 'HTTPRoute shop/cart rule 0 match 0', decision: 'forward', shares: [toCart] };

describe('compareRouting', () => {
  test.each<[string, readonly ConfigResource[], readonly ConfigResource[], readonly Partial<RoutingChange>[]]>([
    ['nothing changes', [web, cart(), ...endpoints], [web, cart(), ...endpoints], []],
    ['a generation alone changes', [web, cart(), ...endpoints], [web, cart({ generation: 2 }), ...endpoints], []],
    [
      'addresses of endpoints change',
      [web, cart(), endpointsConfig('cart', 1)],
      [web, cart(), endpointsConfig('cart', 2, 3)],
      [],
    ],
    [
      'the last endpoint goes',
      [web, cart(), endpointsConfig('cart', 1)],
      [web, cart(), endpointsConfig('cart')],
      [
        {
          effect: 'broken',
          before: forwarded,
          after: { ...forwarded, shares: [{ weight: 1, total: 1, backend: 'shop/cart/80', reason: 'no-endpoints' }] },
        },
      ],
    ],
    [
      'the first endpoint comes',
      [web, cart(), endpointsConfig('cart')],
      [web, cart(), endpointsConfig('cart', 1)],
      [{ effect: 'recovered', after: forwarded }],
    ],
    [
      'another backend',
      [web, cart(), ...endpoints],
      [web, cart({ backends: [backend('next')] }), ...endpoints],
      [
        {
          effect: 'changed',
          after: { ...forwarded, shares: [{ ...toCart, backend: 'shop/next/80' }] },
        },
      ],
    ],
    [
      'a backend that may be usable, for all that is known, is deleted, or comes',
      [web, cart({ backends: [unknown] })],
      [web, cart({ backends: [invalid] })],
      [
        {
          effect: 'changed',
          before: {
            ...forwarded,
            shares: [{ weight: 1, total: 1, backend: 'invalid', unobserved: { kind: 'Service', namespace: 'shop' } }],
          },
        },
      ],
    ],
    [
      'one of two backends breaks; the other one is unknown',
      [web, cart({ backends: [unknown, backend('cart')] }), ...endpoints],
      [web, cart({ backends: [unknown, invalid] }), ...endpoints],
      [{ effect: 'broken' }],
    ],
    [
      'other weights',
      [web, cart({ backends: [backend('cart', 9), backend('next', 1)] }), ...endpoints],
      [web, cart({ backends: [backend('cart', 5), backend('next', 5)] }), ...endpoints],
      [
        {
          effect: 'changed',
          after: {
            ...forwarded,
            shares: [
              { ...toCart, weight: 5, total: 10 },
              { ...toCart, weight: 5, total: 10, backend: 'shop/next/80' },
            ],
          },
        },
      ],
    ],
    [
      'a backend that becomes invalid',
      [web, cart(), ...endpoints],
      [
        web,
        cart({ backends: [{ weight: 1, target: { type: 'invalid', reason: 'BackendNotFound' }, filters: [] }] }),
        ...endpoints,
      ],
      [
        {
          effect: 'broken',
          after: { ...forwarded, shares: [{ weight: 1, total: 1, backend: 'invalid', reason: 'invalid-backend' }] },
        },
      ],
    ],
    [
      'a filter of the listener',
      [web, cart(), ...endpoints, endpointsConfig('auth', 1)],
      [listenerConfig('web', { filters: [authorizedBy('auth')] }), cart(), ...endpoints, endpointsConfig('auth', 1)],
      [{ effect: 'changed', after: { ...forwarded, filters: ['shop/auth/80'] } }],
    ],
    [
      'the last endpoint of the authorization server of a listener',
      [listenerConfig('web', { filters: [authorizedBy('auth')] }), cart(), ...endpoints, endpointsConfig('auth', 1)],
      [listenerConfig('web', { filters: [authorizedBy('auth')] }), cart(), ...endpoints, endpointsConfig('auth')],
      [
        {
          effect: 'broken',
          after: { ...forwarded, filters: ['shop/auth/80'], reason: 'authorization-unavailable' },
        },
      ],
    ],
    [
      'a filter of the listener that cannot run',
      [web, cart(), ...endpoints],
      [listenerConfig('web', { failure: 'invalid filter' }), cart(), ...endpoints],
      [
        {
          effect: 'broken',
          after: { rule: undefined, decision: 'answer', reason: 'listener-failure', shares: [] },
        },
      ],
    ],
    [
      'a rule that fails',
      [web, cart(), ...endpoints],
      [web, cart({ failure: 'invalid filter' }), ...endpoints],
      [
        {
          effect: 'broken',
          after: { rule: forwarded.rule, decision: 'answer', reason: 'rule-failure', shares: [] },
        },
      ],
    ],
    [
      'a redirect',
      [web, cart(), ...endpoints],
      [web, cart({ filters: [{ type: 'redirect', scheme: 'https', statusCode: 301 }], backends: [] }), ...endpoints],
      [
        {
          effect: 'changed',
          after: { rule: forwarded.rule, decision: 'redirect', location: 'https://any.example/', shares: [] },
        },
      ],
    ],
    [
      'session persistence that comes',
      [web, cart(), ...endpoints],
      [web, cart({ session }), ...endpoints],
      [{ effect: 'changed', before: forwarded, after: { ...forwarded, shares: [{ ...toCart, session }] } }],
    ],
    [
      'session persistence that changes',
      [web, cart({ session }), ...endpoints],
      [web, cart({ session: { ...session, absoluteTimeout: 60_000 } }), ...endpoints],
      [
        {
          effect: 'changed',
          before: { ...forwarded, shares: [{ ...toCart, session }] },
          after: { ...forwarded, shares: [{ ...toCart, session: { ...session, absoluteTimeout: 60_000 } }] },
        },
      ],
    ],
    [
      'session persistence of one backend that goes',
      [web, cart({ backends: [{ ...backend('cart'), session }] }), ...endpoints],
      [web, cart(), ...endpoints],
      [{ effect: 'changed', before: { ...forwarded, shares: [{ ...toCart, session }] }, after: forwarded }],
    ],
    [
      'session persistence of a rule that fails',
      [web, cart({ session, failure: 'invalid filter' }), ...endpoints],
      [web, cart({ failure: 'invalid filter' }), ...endpoints],
      [],
    ],
    [
      'another path for the backend',
      [web, cart(), ...endpoints],
      [web, cart({ filters: [{ type: 'rewrite', path: { type: 'full', value: '/new' } }] }), ...endpoints],
      [
        {
          effect: 'changed',
          after: { ...forwarded, shares: [{ ...toCart, target: 'any.example/new' }] },
        },
      ],
    ],
    [
      'a route that goes',
      [web, cart(), ...endpoints],
      [web, ...endpoints],
      [{ effect: 'broken', after: { rule: undefined, decision: 'answer', reason: 'no-route', shares: [] } }],
    ],
    [
      'a route that comes',
      [web, ...endpoints],
      [web, cart(), ...endpoints],
      [{ effect: 'recovered', before: { rule: undefined, decision: 'answer', reason: 'no-route', shares: [] } }],
    ],
    [
      'a listener that goes',
      [web, cart(), ...endpoints],
      [cart({ attachments: [] }), ...endpoints],
      [{ effect: 'broken', after: { rule: undefined, decision: 'none', shares: [] } }],
    ],
    [
      'a route that shadows another',
      [web, cart(), ...endpoints],
      [
        web,
        cart(),
        { ...cart({ matches: [{ method: 'GET' }], backends: [backend('next')] }), key: 'route/new', route: 'shop/new' },
        ...endpoints,
      ],
      [
        {
          effect: 'changed',
          after: {
            rule: 'HTTPRoute shop/new rule 0 match 0',
            decision: 'forward',
            shares: [{ ...toCart, backend: 'shop/next/80' }],
          },
        },
      ],
    ],
  ])('%s', (_, before, after, changes) => {
    const found = compare(before, after);
    expect(found).toMatchObject(changes);
    expect(found).toHaveLength(changes.length);
  });

  test('only routes that the change can reach have examples', () => {
    const other = {
      ...cart({ matches: [{ path: { type: 'Exact', value: '/other' } }], backends: [backend('next')] }),
      key: 'route/other',
      route: 'shop/other',
    };
    const state = [web, cart({ matches: [{ path: { type: 'Exact', value: '/cart' } }] }), other];
    expect(
      compare([...state, ...endpoints], [...state, endpointsConfig('cart'), endpointsConfig('next', 8081)]).map(
        ({ request }) => request,
      ),
    ).toEqual(['GET http://any.example/cart']);
  });

  test('each Gateway has a change of its own', () => {
    const other = { ...web, key: 'listener/infra/other/web', gateway: 'infra/other' };
    const attachments = [web, other].map(({ key }) => ({ listener: key, hostnames: [''] }));
    const changes = compare([web, other, cart({ attachments }), ...endpoints], [web, other, ...endpoints]);
    expect(changes.map(({ gateway, effect }) => [gateway, effect])).toEqual([
      ['infra/gateway', 'broken'],
      ['infra/other', 'broken'],
    ]);
  });

  test('compares at most 5,000 matches, and says so', () => {
    const matches = Array.from({ length: 5_001 }, (_, index): Partial<RouteMatch> => ({
      path: { type: 'Exact', value: `/${index}` },
    }));
    const { changes, incomplete } = compareRouting(
      configurationOf([web, cart({ matches }), ...endpoints]),
      configurationOf([web, ...endpoints]),
    );
    expect([changes.length, incomplete]).toEqual([5_000, true]);
    expect(
      compareRouting(
        configurationOf([web, cart({ matches: matches.slice(1) }), ...endpoints]),
        configurationOf([web, ...endpoints]),
      ).incomplete,
    ).toBe(false);
  });
});

describe('examples of requests', () => {
  /** The examples for a route that goes. */
  function examplesOf(parts: Parts): readonly string[] {
    return compare([web, secure, cart(parts), ...endpoints], [web, secure, ...endpoints]).map(({ request }) => request);
  }

  test.each<[string, Parts, readonly string[]]>([
    ['a prefix', { matches: [{ path: { type: 'PathPrefix', value: '/cart' } }] }, ['GET http://any.example/cart']],
    ['a method', { matches: [{ method: 'DELETE' }] }, ['DELETE http://any.example/']],
    [
      'headers',
      { matches: [{ headers: [{ name: 'x-version', type: 'Exact', value: 'next' }] }] },
      ["GET http://any.example/ -H 'x-version: next'"],
    ],
    [
      'query parameters',
      { matches: [{ query: [{ name: 'q', type: 'Exact', value: 'a b&c' }] }] },
      ['GET http://any.example/?q=a+b%26c'],
    ],
    [
      'several matches',
      { matches: [{ method: 'GET' }, { method: 'PUT' }] },
      ['GET http://any.example/', 'PUT http://any.example/'],
    ],
    [
      'hostnames',
      { attachments: [{ listener: web.key, hostnames: ['a.example.com', '*.b.example.com'] }] },
      ['GET http://a.example.com/', 'GET http://any.b.example.com/'],
    ],
    [
      'HTTPS on a port of its own',
      { attachments: [{ listener: secure.key, hostnames: ['a.example.com', 'a.example.net'] }] },
      ['GET https://a.example.com:8443/'],
    ],
    [
      'the hostname of the listener',
      { attachments: [{ listener: secure.key, hostnames: [''] }] },
      ['GET https://any.example.com:8443/'],
    ],
    [
      'gRPC',
      { protocol: 'grpc', matches: [{ path: { type: 'Exact', value: '/shop.Cart/Add' } }] },
      ["POST http://any.example/shop.Cart/Add -H 'content-type: application/grpc'"],
    ],
  ])('%s', (_, parts, expected) => {
    expect(examplesOf(parts)).toEqual(expected);
  });

  test.each<[string, readonly string[]]>([
    ['/v[0-9]+/items', ['GET http://any.example/v0/items']],
    ['/(cart|basket)/.+\\.json', ['GET http://any.example/cart/a.json']],
    ['/[^a-zA-Z0-9]{2}', ['GET http://any.example/--']],
    ['(?i)/ABC', ['GET http://any.example/abc']],
    ['/.*', ['GET http://any.example/']],
    ['/a%20b', ['GET http://any.example/a%20b']],
    // No request has such a path once it is normalized, or a host would end it.
    ['/\\.\\.', []],
    ['/é', []],
    ['/a\\?b', []],
    ['cart', []],
  ])('the shortest path that the expression %j accepts', (value, expected) => {
    expect(examplesOf({ matches: [{ path: { type: 'RegularExpression', value } }] })).toEqual(expected);
  });

  test.each<[string, readonly string[]]>([
    ['v[0-9]+(-beta)?', ["GET http://any.example/ -H 'x-version: v0'"]],
    ['.*', ["GET http://any.example/ -H 'x-version: a'"]],
    ['(a b)?', ["GET http://any.example/ -H 'x-version: a b'"]],
    ['', ["GET http://any.example/ -H 'x-version: '"]],
    [' +', []],
    ['[', []],
  ])('the shortest header value that the expression %j accepts', (value, expected) => {
    expect(examplesOf({ matches: [{ headers: [{ name: 'x-version', type: 'RegularExpression', value }] }] })).toEqual(
      expected,
    );
  });
});

describe('connections', () => {
  const passed = listenerConfig('passed', {
    port: 443,
    protocol: 'TLS',
    tlsMode: 'Passthrough',
    hostname: '*.example.com',
  });
  const shop = listenerConfig('shop', {
    port: 443,
    protocol: 'HTTPS',
    hostname: 'shop.example.com',
    certificates: ['shop/good'],
  });
  const database = listenerConfig('database', { port: 5432, protocol: 'TCP' });
  const names = listenerConfig('names', { port: 53, protocol: 'UDP' });

  function routeTo(listener: ConfigResource, parts: Partial<Layer4RouteConfig> = {}): Layer4RouteConfig {
    return {
      kind: 'layer4Route',
      key: 'route/TCPRoute/shop/data',
      route: 'shop/data',
      routeKind: 'TCPRoute',
      created: '2026-01-01T00:00:00Z',
      attachments: [{ listener: listener.key, hostnames: [''] }],
      backends: [backend('cart')],
      generation: 1,
      ...parts,
    };
  }

  const mail = routeTo(passed, {
    route: 'shop/mail',
    routeKind: 'TLSRoute',
    attachments: [{ listener: passed.key, hostnames: ['mail.example.com'] }],
  });
  const connected = {
    rule: 'TCPRoute shop/data',
    decision: 'connect',
    shares: [{ weight: 1, total: 1, backend: 'shop/cart/80' }],
  };

  test.each<[string, readonly ConfigResource[], readonly ConfigResource[], readonly Partial<RoutingChange>[]]>([
    [
      'nothing changes',
      [database, routeTo(database), ...endpoints],
      [database, routeTo(database, { generation: 2 }), ...endpoints],
      [],
    ],
    [
      'a TCPRoute that goes',
      [database, routeTo(database), ...endpoints],
      [database, ...endpoints],
      [
        {
          effect: 'broken',
          request: 'tcp://gateway.infra:5432',
          gateway: 'infra/gateway',
          before: connected,
          after: { rule: undefined, decision: 'close', reason: 'no-route', shares: [] },
        },
      ],
    ],
    [
      'a UDPRoute that comes',
      [names, ...endpoints],
      [names, routeTo(names, { routeKind: 'UDPRoute' }), ...endpoints],
      [{ effect: 'recovered', request: 'udp://gateway.infra:53' }],
    ],
    [
      'another backend',
      [database, routeTo(database), ...endpoints],
      [database, routeTo(database, { backends: [backend('next')] }), ...endpoints],
      [
        {
          effect: 'changed',
          after: { ...connected, shares: [{ weight: 1, total: 1, backend: 'shop/next/80' }] },
        },
      ],
    ],
    [
      'the last endpoint goes',
      [database, routeTo(database), endpointsConfig('cart', 1)],
      [database, routeTo(database), endpointsConfig('cart')],
      [
        {
          effect: 'broken',
          after: { ...connected, shares: [{ weight: 1, total: 1, backend: 'shop/cart/80', reason: 'no-endpoints' }] },
        },
      ],
    ],
    [
      'a route that fails',
      [database, routeTo(database), ...endpoints],
      [database, routeTo(database, { failure: 'invalid' }), ...endpoints],
      [
        {
          effect: 'broken',
          after: { rule: 'TCPRoute shop/data', decision: 'close', reason: 'rule-failure', shares: [] },
        },
      ],
    ],
    [
      'a TLSRoute that goes',
      [passed, mail, ...endpoints],
      [passed, ...endpoints],
      [{ effect: 'broken', request: 'tls://mail.example.com:443' }],
    ],
    [
      'an HTTPS listener that takes the server name',
      [passed, { ...mail, attachments: [{ listener: passed.key, hostnames: ['shop.example.com'] }] }, ...endpoints],
      [passed, shop, routeTo(passed, { attachments: [] }), ...endpoints],
      [
        {
          effect: 'broken',
          request: 'tls://shop.example.com:443',
          after: { rule: undefined, decision: 'requests', shares: [] },
        },
      ],
    ],
    [
      'a listener that goes',
      [database, routeTo(database), ...endpoints],
      [routeTo(database, { attachments: [] }), ...endpoints],
      [{ effect: 'broken', after: { rule: undefined, decision: 'none', shares: [] } }],
    ],
  ])('%s', (_, before, after, changes) => {
    const found = compare(before, after);
    expect(found).toMatchObject(changes);
    expect(found).toHaveLength(changes.length);
  });
});
