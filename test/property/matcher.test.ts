import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { MatchedRoute, RouteConfig, RouteMatch } from '../../src/core/routing/config.ts';
import { RouteTable } from '../../src/core/routing/table.ts';
import type { RouteRequest } from '../../src/core/routing/table.ts';

// Small pools, so that generated routes overlap and generated requests hit them.
const hostname = fc.constantFrom('', '*.com', '*.example.com', '*.a.example.com', 'example.com', 'a.example.com');
const host = fc.constantFrom('com', 'example.com', 'a.example.com', 'b.a.example.com', 'a.com', 'badexample.com');
const segment = fc.constantFrom('a', 'a', 'ab', 'b', '');
const path = fc.array(segment, { maxLength: 2 }).map((segments) => `/${segments.join('/')}`);
const expression = fc.constantFrom('/a.*', '/.*', '/a|/b', '/a/[ab]+', '/((');
const value = fc.constantFrom('x', 'y', 'xy');
const values = fc.record({ n1: value, n2: value }, { requiredKeys: ['n1'] });
const stringMatchType = fc.constantFrom('Exact' as const, 'RegularExpression' as const);
const named = (name: string) =>
  fc.record({ name: fc.constant(name), type: stringMatchType, value: fc.constantFrom('x', 'y', 'x|y', '.*') });
const someNamed = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.tuple(named('n1')) },
  { weight: 1, arbitrary: fc.tuple(named('n2'), named('n1')) },
);

const pathMatch = fc.oneof(
  fc.record({ type: fc.constantFrom('Exact' as const, 'PathPrefix' as const), value: path }),
  fc.record({ type: fc.constant('RegularExpression' as const), value: expression }),
);

const matchParts = fc.record({
  path: pathMatch,
  method: fc.constantFrom('GET', 'POST', undefined, undefined),
  headers: someNamed,
  query: someNamed,
  call: fc.record({ service: fc.nat(1), method: fc.nat(1) }),
});

const matches = fc.array(matchParts, { minLength: 1, maxLength: 3 }).map((all) =>
  all.map(({ method, ...parts }, index): RouteMatch => ({
    index,
    ...parts,
    ...(method === undefined ? {} : { method }),
  })),
);

const attachment = fc.record({
  listener: fc.constantFrom('web', 'web', 'other'),
  hostnames: fc.uniqueArray(hostname, { minLength: 1, maxLength: 3 }),
});

const route: fc.Arbitrary<RouteConfig> = fc
  .record({
    name: fc.constantFrom('a/a', 'a/ab', 'a-b/a', 'b/a', 'b/b', 'c/c'),
    created: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
    attachments: fc.array(attachment, { minLength: 1, maxLength: 3 }),
    rules: fc.array(matches, { maxLength: 3 }),
    grpc: fc.boolean(),
  })
  .map(({ name, created, attachments, rules, grpc }) => ({
    kind: 'route',
    key: `route/${grpc ? 'GRPCRoute' : 'HTTPRoute'}/${name}`,
    route: name,
    ...(grpc ? { protocol: 'grpc' } : {}),
    created,
    attachments,
    rules: rules.map((matches, index) => ({
      index,
      matches: grpc ? matches : matches.map(({ call: _call, ...match }) => match),
      filters: [],
      backends: [],
    })),
    generation: 1,
  }));

const routes = fc.uniqueArray(route, { minLength: 1, maxLength: 6, selector: ({ key }) => key });

const request: fc.Arbitrary<RouteRequest> = fc
  .record({
    host,
    path,
    method: fc.constantFrom('GET', 'POST', 'PUT'),
    headers: values,
    contentType: fc.constantFrom('application/grpc', 'application/grpc+proto', 'text/plain', undefined),
    query: values,
  })
  .map(({ headers, contentType, query, ...line }) =>
    Object.assign(line, { header: valueIn({ ...headers, 'content-type': contentType }), query: valueIn(query) }),
  );

function valueIn(values: Partial<Record<string, string>>): (name: string) => string | undefined {
  return (name) => values[name];
}

/** The specification read aloud: write all entries down, sort them, take the first that fits. */
interface Entry extends MatchedRoute {
  readonly hostname: string;
}

function reference(routes: readonly RouteConfig[], request: RouteRequest): string | undefined {
  const entries: Entry[] = [];
  for (const route of routes) {
    for (const { listener, hostnames } of route.attachments) {
      if (listener !== 'web') continue;
      for (const hostname of hostnames) {
        for (const rule of route.rules) {
          for (const match of rule.matches) entries.push({ route, rule, match, hostname });
        }
      }
    }
  }
  const found = entries.sort(compare).find((entry) => covers(entry.hostname, request.host) && fits(entry, request));
  return found && nameOf(found);
}

function compare(left: Entry, right: Entry): number {
  const criteria: ((entry: Entry) => number | string)[] = [
    ({ hostname }) => (hostname === '' ? 2 : hostname.startsWith('*') ? 1 : 0),
    ({ hostname }) => -hostname.length,
    ({ route }) => (route.protocol === 'grpc' ? 0 : 1),
    ({ match }) => -(match.call?.service ?? 0),
    ({ match }) => -(match.call?.method ?? 0),
    ({ match }) =>
      match.call === undefined ? ['Exact', 'RegularExpression', 'PathPrefix'].indexOf(match.path.type) : 0,
    ({ match }) =>
      match.call === undefined
        ? -(match.path.type === 'PathPrefix' ? match.path.value.replace(/\/$/, '') : match.path.value).length
        : 0,
    ({ match }) => (match.call === undefined && match.method === undefined ? 1 : 0),
    ({ match }) => -match.headers.length,
    ({ match }) => -match.query.length,
    ({ route }) => Date.parse(route.created),
    ({ route }) => route.route,
    ({ rule }) => rule.index,
    ({ match }) => match.index,
  ];
  for (const criterion of criteria) {
    const [first, second] = [criterion(left), criterion(right)];
    if (first !== second) return first < second ? -1 : 1;
  }
  return 0;
}

function covers(hostname: string, host: string): boolean {
  if (hostname === '') return true;
  if (!hostname.startsWith('*.')) return hostname === host;
  const labels = host.split('.');
  const suffix = hostname.slice(2).split('.');
  return labels.length > suffix.length && labels.slice(-suffix.length).join('.') === suffix.join('.');
}

function fits({ route, match }: MatchedRoute, request: RouteRequest): boolean {
  if (route.protocol === 'grpc' && request.header('content-type')?.startsWith('application/grpc') !== true)
    return false;
  const equal = (text: string | undefined, type: string, wanted: string) =>
    text !== undefined && (type === 'Exact' ? text === wanted : wholly(wanted, text));
  return (
    pathFits(match.path, request.path) &&
    (match.method === undefined || match.method === request.method) &&
    match.headers.every(({ name, type, value }) => equal(request.header(name), type, value)) &&
    match.query.every(({ name, type, value }) => equal(request.query(name), type, value))
  );
}

function pathFits({ type, value }: RouteMatch['path'], path: string): boolean {
  if (type === 'Exact') return value === path;
  if (type === 'RegularExpression') return wholly(value, path);
  const prefix = value.endsWith('/') ? value : `${value}/`;
  return `${path}/`.startsWith(prefix);
}

function wholly(expression: string, text: string): boolean {
  return expression !== '/((' && new RegExp(`^(?:${expression})$`).test(text);
}

function nameOf({ route, rule, match }: MatchedRoute): string {
  return `${route.key} ${rule.index}.${match.index}`;
}

function lookUp(table: RouteTable, request: RouteRequest): string | undefined {
  const found = table.match('web', request);
  return found && nameOf(found);
}

function tableOf(routes: readonly RouteConfig[]): RouteTable {
  const table = new RouteTable();
  for (const route of routes) table.upsert(route);
  return table;
}

describe('the route table', () => {
  test('answers as the sorted list of all entries does', () => {
    let hits = 0;
    let tries = 0;
    fc.assert(
      fc.property(routes, fc.array(request, { minLength: 5, maxLength: 5 }), (routes, requests) => {
        const table = tableOf(routes);
        for (const request of requests) {
          const expected = reference(routes, request);
          tries += 1;
          if (expected !== undefined) hits += 1;
          expect(lookUp(table, request)).toBe(expected);
        }
      }),
      { numRuns: 1000 },
    );
    // The pools are of use only while requests hit and miss.
    expect(hits / tries).toBeGreaterThan(0.2);
    expect(hits / tries).toBeLessThan(0.9);
  });

  test('explains the first candidate that matches as the winner', () => {
    fc.assert(
      fc.property(routes, request, (routes, request) => {
        const table = tableOf(routes);
        const first = [...table.candidates('web', request)].find(({ unmet }) => unmet.length === 0);
        expect(first && nameOf(first.candidate)).toBe(lookUp(table, request));
      }),
    );
  });

  test('depends on the routes it holds, not on the changes that led to them', () => {
    const change = fc.oneof(
      route,
      route.map(({ key }) => key),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), fc.array(request, { minLength: 5 }), (changes, requests) => {
        const table = new RouteTable();
        const held = new Map<string, RouteConfig>();
        for (const change of changes) {
          if (typeof change === 'string') {
            table.remove(change);
            held.delete(change);
          } else {
            table.upsert(change);
            held.set(change.key, change);
          }
        }
        for (const request of requests) expect(lookUp(table, request)).toBe(reference([...held.values()], request));
        for (const key of held.keys()) table.remove(key);
        expect(table.isEmpty).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
