import { describe, expect, test } from '@jest/globals';
import { compareRouting, type RoutingChange } from '../../../../src/core/impact/routing.ts';
import type {
  ConfigKey,
  ConfigResource,
  EndpointsConfig,
  Layer4RouteConfig,
  ListenerConfig,
  RouteBackend,
  RouteConfig,
} from '../../../../src/core/routing/config.ts';
import { endpointsConfig, listenerConfig } from '../../../support/config.ts';
import { routeConfig, routeMatch } from '../../../support/routes.ts';

const cart = endpointsConfig('cart', 8080);
const toCart: RouteBackend = { weight: 1, target: { type: 'endpoints', key: cart.key }, filters: [] };

/** Listeners of as many Gateways: `infra/g0`, `infra/g1` and so on. */
function listenersOf(count: number, parts: Partial<ListenerConfig> = {}): readonly ListenerConfig[] {
  return Array.from({ length: count }, (_, index) =>
    listenerConfig('web', { ...parts, key: `listener/infra/g${index}/web`, gateway: `infra/g${index}` }),
  );
}

/** A route with as many matches for a host of its own. */
function routeAt(listeners: readonly ListenerConfig[], name: string, matches = 1): RouteConfig {
  return routeConfig(`shop/${name}`, {
    attachments: listeners.map(({ key }) => ({ listener: key, hostnames: [`${name}.example.com`] })),
    rules: [
      {
        index: 0,
        matches: Array.from({ length: matches }, (_, index) =>
          routeMatch({ index, path: { type: 'Exact', value: `/${index}` } }),
        ),
        filters: [],
        backends: [toCart],
      },
    ],
  });
}

function connectionsAt({ key }: ListenerConfig, name: string): Layer4RouteConfig {
  return {
    kind: 'layer4Route',
    key: `route/TLSRoute/shop/${name}`,
    route: `shop/${name}`,
    routeKind: 'TLSRoute',
    created: '2026-01-01T00:00:00Z',
    attachments: [{ listener: key, hostnames: [`${name}.example.com`] }],
    backends: [toCart],
    generation: 1,
  };
}

function compare(
  before: readonly ConfigResource[],
  after: readonly ConfigResource[],
): ReturnType<typeof compareRouting> {
  const [former, present] = [before, after].map(
    (resources) => new Map(resources.map((resource): [ConfigKey, ConfigResource] => [resource.key, resource])),
  );
  return compareRouting(former ?? new Map(), present ?? new Map());
}

function effectsOf(changes: readonly RoutingChange[]): Readonly<Record<string, number>> {
  const byEffect = Map.groupBy(changes, ({ effect }) => effect);
  return Object.fromEntries([...byEffect].map(([effect, { length }]) => [effect, length]));
}

describe('compareRouting with many Gateways', () => {
  const listeners = listenersOf(100);
  const tls = listenersOf(100, { port: 443, protocol: 'TLS', tlsMode: 'Passthrough' });
  /** Routes in turn at all Gateways. */
  const routesOf = (count: number): readonly ConfigResource[] =>
    Array.from({ length: count }, (_, index) => routeAt(listeners.slice(index % 100, (index % 100) + 1), `r${index}`));

  test('compares each example at each Gateway, up to 100,000 times', () => {
    const routes = routesOf(1_000);
    const { changes, incomplete } = compare([...listeners, ...routes, cart], [...routes, cart]);
    expect([effectsOf(changes), incomplete]).toEqual([{ broken: 1_000, changed: 99_000 }, false]);
  });

  test('beyond that, compares each example at the Gateways of its route, and says so', () => {
    const routes = routesOf(1_001);
    const { changes, incomplete } = compare([...listeners, ...routes, cart], [...routes, cart]);
    expect([effectsOf(changes), incomplete]).toEqual([{ broken: 1_001 }, true]);
    expect(changes[42]).toMatchObject({ gateway: 'infra/g42', request: 'GET http://r42.example.com/0' });
  });

  test('an example of several routes is compared at the Gateways of all, also of those after the change', () => {
    const [one, other, third] = listeners;
    const moved = (...at: readonly (ListenerConfig | undefined)[]): RouteConfig =>
      routeAt(
        at.flatMap((listener) => listener ?? []),
        'moved',
      );
    const others = routesOf(1_001);
    const twin = { ...moved(third), key: 'route/shop/twin', route: 'shop/twin' };
    const { changes } = compare(
      [...listeners, ...others, moved(one), twin, cart],
      [...listeners, ...others, moved(other), cart, endpointsConfig('cart')],
    );
    expect(
      changes
        .filter(({ request }) => request === 'GET http://moved.example.com/0')
        .map(({ gateway, effect }) => [gateway, effect]),
    ).toEqual([
      ['infra/g0', 'broken'],
      ['infra/g1', 'changed'],
      ['infra/g2', 'broken'],
    ]);
  });

  test('compares connections in the same way', () => {
    const routes = (count: number): readonly ConfigResource[] =>
      tls.flatMap((listener, gateway) =>
        Array.from({ length: count }, (_, index) => connectionsAt(listener, `g${gateway}r${index}`)),
      );
    const few = compare([...tls, ...routes(10), cart], [...routes(10), cart]);
    expect([effectsOf(few.changes), few.incomplete]).toEqual([{ broken: 1_000, changed: 99_000 }, false]);
    const many = compare([...tls, ...routes(11), cart], [...routes(11), cart]);
    expect([effectsOf(many.changes), many.incomplete]).toEqual([{ broken: 1_100 }, true]);
  });

  test('compares matches at Gateways up to 100,000 times', () => {
    const all = listenersOf(2_000);
    const route = routeAt(all, 'everywhere', 51);
    const { changes, incomplete } = compare([...all, route, cart], [...all, cart]);
    expect([changes.length, incomplete]).toEqual([100_000, true]);
  });

  test.each([
    ['requests', listenersOf, routeAt],
    [
      'connections',
      (count: number) => listenersOf(count, { port: 443, protocol: 'TLS' as const, tlsMode: 'Passthrough' as const }),
      ([first]: readonly ListenerConfig[], name: string) => connectionsAt(first ?? listenerConfig('web'), name),
    ],
  ])('reads the endpoints of other routes as often with 20 Gateways as with one: %s', (_, listenersWith, routeWith) => {
    const readsWith = (count: number): number => {
      let reads = 0;
      const other: EndpointsConfig = {
        ...endpointsConfig('other', 1),
        get kind(): 'endpoints' {
          reads++;
          return 'endpoints';
        },
      };
      const all = listenersWith(count);
      const routes = all.map((listener, index) => routeWith([listener], `r${index}`));
      compare([...all, ...routes, cart, other], [...all, ...routes, endpointsConfig('cart'), other]);
      return reads;
    };
    expect(readsWith(20)).toBe(readsWith(1));
  });
});
