import { expect, test } from '@jest/globals';
import { Layer4Table } from '../../../../../src/core/routing/decision/layer4.ts';
import type { Layer4RouteConfig } from '../../../../../src/core/routing/config.ts';

function routeNamed(
  route: string,
  hostnames: readonly string[],
  parts: Partial<Layer4RouteConfig> = {},
): Layer4RouteConfig {
  return {
    kind: 'layer4Route',
    key: `route/TLSRoute/${route}`,
    route,
    routeKind: 'TLSRoute',
    created: '2026-01-01T00:00:00Z',
    attachments: [{ listener: 'listener', hostnames }],
    backends: [],
    generation: 1,
    ...parts,
  };
}

function tableOf(...routes: readonly Layer4RouteConfig[]): Layer4Table {
  const table = new Layer4Table();
  for (const route of routes) table.upsert(route);
  return table;
}

test.each([
  ['an exact hostname', 'a.shop.example.com', 'shop/exact'],
  ['the longest wildcard', 'b.shop.example.com', 'shop/near'],
  ['a shorter wildcard, over several labels', 'b.c.example.com', 'shop/far'],
  ['no wildcard for the bare domain', 'com', 'shop/any'],
  ['a connection without a server name', '', 'shop/any'],
])('the most specific hostname wins: %s', (_, serverName, expected) => {
  const table = tableOf(
    routeNamed('shop/any', ['']),
    routeNamed('shop/far', ['*.example.com']),
    routeNamed('shop/near', ['*.shop.example.com']),
    routeNamed('shop/exact', ['a.shop.example.com']),
  );
  expect(table.routeFor('listener', serverName)?.route).toBe(expected);
});

test('a server name that no hostname covers has no route, nor has another listener', () => {
  const table = tableOf(routeNamed('shop/exact', ['a.example.com']));
  expect(table.routeFor('listener', 'b.example.com')).toBeUndefined();
  expect(table.routeFor('listener', '')).toBeUndefined();
  expect(table.routeFor('other', 'a.example.com')).toBeUndefined();
});

test('the oldest of several routes wins, then the first by name; the next one follows when it goes', () => {
  const old = routeNamed('shop/z', [''], { created: '2025-01-01T00:00:00Z' });
  const table = tableOf(routeNamed('shop/b', ['']), routeNamed('shop/a', ['']), old);
  expect(table.routeFor('listener', '')?.route).toBe('shop/z');
  table.remove(old.key);
  expect(table.routeFor('listener', '')?.route).toBe('shop/a');
});

test('routes with the same hostnames are compared a few times, whatever their number', () => {
  let looks = 0;
  const routes = Array.from({ length: 1_000 }, (_, index) => {
    const route = routeNamed(`shop/${index}`, ['', 'a.example.com'], { created: `${3_000 - index}` });
    return new Proxy(route, {
      get: (target, name) => {
        if (name === 'created') looks += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
  });
  const table = tableOf(...routes);
  for (const _ of routes) expect(table.routeFor('listener', 'a.example.com')?.route).toBe('shop/999');
  for (const { key } of routes.slice(500)) table.remove(key);
  expect(table.routeFor('listener', 'a.example.com')?.route).toBe('shop/499');
  for (const { key } of routes) table.remove(key);
  expect(table.isEmpty).toBe(true);
  expect(looks).toBeLessThan(10 * routes.length);
});

test('a route that replaces the oldest one is compared with the others again', () => {
  const [old, young] = [routeNamed('shop/a', [''], { created: '1' }), routeNamed('shop/b', [''], { created: '2' })];
  const table = tableOf(old, young);
  expect(table.routeFor('listener', '')?.route).toBe('shop/a');
  table.upsert({ ...old, created: '3' });
  expect(table.routeFor('listener', '')?.route).toBe('shop/b');
  table.remove(young.key);
  expect([...table.candidates('listener', '')].map(({ route }) => route.route)).toEqual(['shop/a']);
  table.upsert(routeNamed('shop/c', [''], { created: '0' }));
  expect(table.routeFor('listener', '')?.route).toBe('shop/c');
  expect([...table.candidates('listener', '')].map(({ route }) => route.route)).toEqual(['shop/c', 'shop/a']);
});

test('a changed route leaves nothing behind', () => {
  const table = tableOf(
    routeNamed('shop/a', ['a.example.com', 'b.example.com'], {
      attachments: [
        { listener: 'listener', hostnames: ['a.example.com', 'b.example.com'] },
        { listener: 'listener', hostnames: ['b.example.com'] },
      ],
    }),
  );
  table.upsert(routeNamed('shop/a', ['c.example.com']));
  expect(table.routeFor('listener', 'b.example.com')).toBeUndefined();
  expect(table.routeFor('listener', 'c.example.com')?.route).toBe('shop/a');
  table.remove('route/TLSRoute/shop/a');
  expect(table.isEmpty).toBe(true);
});
