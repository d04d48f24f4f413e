import { describe, expect, test } from '@jest/globals';
import type { Layer4RouteConfig, RouteConfig } from '../../../../src/core/routing/config.ts';
import { Layer4Table } from '../../../../src/core/routing/decision/layer4.ts';
import { RouteTable } from '../../../../src/core/routing/table.ts';
import type { Version } from '../../../../src/core/routing/versions.ts';
import { runToEnd, type Steps } from '../../../../src/core/text/steps.ts';
import { routeConfig, routeRequest } from '../../../support/routes.ts';

const listeners = ['a', 'b'];
const hostnames = Array.from({ length: 16 }, (_, index) => `h${index}.example`);
const attachments = listeners.map((listener) => ({ listener, hostnames }));

function layer4RouteConfig(route: string, generation: number): Layer4RouteConfig {
  return {
    kind: 'layer4Route',
    key: `route/${route}`,
    route,
    routeKind: 'TLSRoute',
    created: '2026-01-01T00:00:00Z',
    attachments,
    backends: [],
    generation,
  };
}

/** What both tables have in common, for routes that differ in their generation. */
interface Table {
  stage(route: string, generation: number): Steps<Version>;
  readonly versions: {
    activate(version: Version): void;
    deactivate(key: string): void;
    discard(version: Version): void;
    sweep(): Steps<undefined>;
  };
  /** The generation of the route that a lookup finds. */
  found(): number | undefined;
  /** How many entries `explain` shows. */
  shown(): number;
  readonly isEmpty: boolean;
}

function requestTable(): Table {
  const table = new RouteTable();
  const request = routeRequest('http://h3.example/');
  const routeOf = (route: string, generation: number): RouteConfig => ({
    ...routeConfig(route, { attachments }),
    generation,
  });
  return {
    stage: (route, generation) => table.stage(routeOf(route, generation)),
    versions: table.versions,
    found: () => table.match('b', request)?.route.generation,
    shown: () => [...table.candidates('b', request)].length,
    get isEmpty() {
      return table.isEmpty;
    },
  };
}

function connectionTable(): Table {
  const table = new Layer4Table();
  return {
    stage: (route, generation) => table.stage(layer4RouteConfig(route, generation)),
    versions: table.versions,
    found: () => table.routeFor('b', 'h3.example')?.generation,
    shown: () => [...table.candidates('b', 'h3.example')].length,
    get isEmpty() {
      return table.isEmpty;
    },
  };
}

describe.each([
  ['requests', requestTable],
  ['connections', connectionTable],
])('a table of routes for %s', (_, create) => {
  test('finds a staged version only after it is activated, whatever the step', () => {
    const table = create();
    table.versions.activate(runToEnd(table.stage('shop/web', 1)));
    expect([table.found(), table.shown()]).toEqual([1, 16]);

    const staging = table.stage('shop/web', 2);
    let steps = 0;
    let next = staging.next();
    for (; next.done !== true; next = staging.next()) {
      steps += 1;
      expect([table.found(), table.shown()]).toEqual([1, 16]);
    }
    // Lookups wait for one listener at most.
    expect(steps).toBeGreaterThanOrEqual(listeners.length);

    table.versions.activate(next.value);
    expect([table.found(), table.shown()]).toEqual([2, 16]);
    const sweeping = table.versions.sweep();
    for (let swept = sweeping.next(); swept.done !== true; swept = sweeping.next()) expect(table.found()).toBe(2);
    expect([table.found(), table.shown()]).toEqual([2, 16]);
  });

  test('does not find a removed route, and forgets it when it is swept', () => {
    const table = create();
    table.versions.activate(runToEnd(table.stage('shop/web', 1)));
    table.versions.deactivate('route/shop/web');
    expect([table.found(), table.shown()]).toEqual([undefined, 0]);
    runToEnd(table.versions.sweep());
    expect(table.isEmpty).toBe(true);
  });

  test('forgets a discarded version, and keeps the active one', () => {
    const table = create();
    const active = runToEnd(table.stage('shop/web', 1));
    table.versions.activate(active);
    table.versions.discard(runToEnd(table.stage('shop/web', 2)));
    table.versions.discard(runToEnd(table.stage('shop/other', 3)));
    table.versions.discard(active);
    runToEnd(table.versions.sweep());
    expect([table.found(), table.shown()]).toEqual([1, 16]);
    table.versions.deactivate('route/shop/web');
    runToEnd(table.versions.sweep());
    expect(table.isEmpty).toBe(true);
  });
});
