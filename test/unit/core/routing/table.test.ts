import { describe, expect, test } from '@jest/globals';
import type { RouteConfig, RouteMatch } from '../../../../src/core/routing/config.ts';
import {
  MatchTooCostly,
  maxCheckedConditions,
  maxMatchedCharacters,
} from '../../../../src/core/routing/match-allowance.ts';
import { RouteTable, type Candidate } from '../../../../src/core/routing/table.ts';
import type { RouteRequest } from '../../../../src/core/routing/table.ts';
import { routeConfig, routeMatch, routeRequest, routeRule } from '../../../support/routes.ts';

function tableOf(...routes: readonly RouteConfig[]): RouteTable {
  const table = new RouteTable();
  for (const route of routes) table.upsert(route);
  return table;
}

/** `route rule.match` of the winner on the listener `web`. */
function winner(table: RouteTable, request: RouteRequest): string | undefined {
  const found = table.match('web', request);
  return found === undefined ? undefined : `${found.route.route} ${found.rule.index}.${found.match.index}`;
}

function onHosts(...hostnames: readonly string[]): Pick<RouteConfig, 'attachments'> {
  return { attachments: [{ listener: 'web', hostnames }] };
}

function withMatches(...matches: readonly RouteMatch[]): Pick<RouteConfig, 'rules'> {
  return { rules: [routeRule(0, ...matches)] };
}

const prefix = (value: string) => routeMatch({ path: { type: 'PathPrefix', value } });
const exact = (value: string) => routeMatch({ path: { type: 'Exact', value } });
const expression = (value: string) => routeMatch({ path: { type: 'RegularExpression', value } });

function verdictOf({ unmet }: Candidate): string {
  return unmet.length === 0 ? 'matches' : unmet.join('; ');
}

describe('hostnames', () => {
  const table = tableOf(
    routeConfig('a/exact', onHosts('abc.example.com')),
    routeConfig('a/long', onHosts('*.example.com')),
    routeConfig('a/short', onHosts('*.com')),
    routeConfig('a/none'),
  );

  test.each([
    ['abc.example.com', 'a/exact 0.0'],
    ['other.example.com', 'a/long 0.0'],
    ['deep.other.example.com', 'a/long 0.0'],
    ['x.abc.example.com', 'a/long 0.0'],
    ['example.com', 'a/short 0.0'],
    ['notexample.com', 'a/short 0.0'],
    ['com', 'a/none 0.0'],
    ['localhost', 'a/none 0.0'],
    ['127.0.0.1', 'a/none 0.0'],
    ['', 'a/none 0.0'],
    ['.com', 'a/none 0.0'],
    ['x'.repeat(300), 'a/none 0.0'],
  ])('%s goes to %s', (host, expected) => {
    expect(winner(table, { ...routeRequest('http://h/'), host })).toBe(expected);
  });

  test('a more specific hostname wins over age and over a longer path', () => {
    const older = routeConfig('a/older', {
      ...onHosts('*.example.com'),
      ...withMatches(prefix('/path/prefix')),
      created: '2020-01-01T00:00:00Z',
    });
    const newer = routeConfig('a/newer', { ...onHosts('abc.example.com'), ...withMatches(prefix('/path')) });
    expect(winner(tableOf(older, newer), routeRequest('http://abc.example.com/path/prefix/x'))).toBe('a/newer 0.0');
  });

  test('a hostname without a match for the request falls through to the next broader one', () => {
    const header = (name: string) => routeMatch({ headers: [{ name, type: 'Exact', value: 'yes' }] });
    const table = tableOf(
      routeConfig('a/older', { ...onHosts('*.example.com'), ...withMatches(header('header-b')) }),
      routeConfig('a/newer', { ...onHosts('abc.example.com'), ...withMatches(header('header-a')) }),
    );
    const request = (headers: Record<string, string>) => routeRequest('http://abc.example.com/', { headers });
    expect(winner(table, request({ 'header-a': 'yes', 'header-b': 'yes' }))).toBe('a/newer 0.0');
    expect(winner(table, request({ 'header-b': 'yes' }))).toBe('a/older 0.0');
    expect(winner(table, request({}))).toBeUndefined();
  });

  test('are those of the listener that was asked', () => {
    const table = tableOf(
      routeConfig('a/two', {
        attachments: [
          { listener: 'web', hostnames: ['a.example.com'] },
          { listener: 'other', hostnames: ['b.example.com'] },
        ],
      }),
    );
    expect(winner(table, routeRequest('http://b.example.com/'))).toBeUndefined();
    expect(table.match('other', routeRequest('http://b.example.com/'))?.route.route).toBe('a/two');
    expect(table.match('unknown', routeRequest('http://b.example.com/'))).toBeUndefined();
  });
});

describe('paths', () => {
  test.each([
    ['/abc', '/abc', true],
    ['/abc', '/abc/', true],
    ['/abc', '/abc/def', true],
    ['/abc', '/abcd', false],
    ['/abc/', '/abc', true],
    ['/abc/', '/abc/def', true],
    ['/abc', '/ABC', false],
    ['/', '/anything/at/all', true],
    ['/', '/', true],
    ['/a//b', '/a//b/c', true],
    ['abc', '/abc', false],
  ])('the prefix %s and the path %s: %s', (value, path, expected) => {
    const table = tableOf(routeConfig('a/r', withMatches(prefix(value))));
    expect(winner(table, routeRequest(`http://h${path}`)) !== undefined).toBe(expected);
    const [candidate] = [...table.candidates('web', routeRequest(`http://h${path}`))];
    expect(candidate?.unmet.length === 0).toBe(expected);
  });

  test.each([
    ['/abc', true],
    ['/abc/', false],
    ['/Abc', false],
    ['/abcd', false],
  ])('the exact path /abc and %s: %s', (path, expected) => {
    const table = tableOf(routeConfig('a/r', withMatches(exact('/abc'))));
    expect(winner(table, routeRequest(`http://h${path}`)) !== undefined).toBe(expected);
  });

  test('the asterisk of OPTIONS is below no prefix', () => {
    const request = { ...routeRequest('http://h/', { method: 'OPTIONS' }), path: '*' };
    expect(winner(tableOf(routeConfig('a/r')), request)).toBeUndefined();
  });

  test('an expression must match the whole path', () => {
    const table = tableOf(routeConfig('a/r', withMatches(expression('/v[0-9]+'))));
    expect(winner(table, routeRequest('http://h/v12'))).toBe('a/r 0.0');
    expect(winner(table, routeRequest('http://h/v12/x'))).toBeUndefined();
    expect(winner(table, routeRequest('http://h/x/v12'))).toBeUndefined();
  });

  test('an expression that cannot be compiled matches nothing and leaves its neighbours alone', () => {
    const table = tableOf(routeConfig('a/r', withMatches(expression('/(('), prefix('/'))));
    expect(winner(table, routeRequest('http://h/(('))).toBe('a/r 0.1');
    expect([...table.candidates('web', routeRequest('http://h/'))].map(verdictOf)).toEqual([
      expect.stringMatching(/^the expression for path is unusable: ./),
      'matches',
    ]);
  });
});

describe('precedence within a hostname', () => {
  const get = routeMatch({ path: { type: 'PathPrefix', value: '/a' }, method: 'GET' });
  const headers = (...names: readonly string[]) => names.map((name) => ({ name, type: 'Exact' as const, value: 'x' }));
  const request = routeRequest('http://h/a/b?p=x&q=x', { headers: { h1: 'x', h2: 'x' } });

  test.each<[string, RouteMatch, RouteMatch]>([
    ['Exact before a regular expression', exact('/a/b'), expression('/a/.*[b]{1,1}')],
    ['a regular expression before a longer prefix', expression('.*'), prefix('/a/b')],
    ['Exact before a prefix', exact('/a/b'), prefix('/a/b')],
    ['the longer prefix', prefix('/a/b'), prefix('/a')],
    ['the longer expression', expression('/a/b'), expression('.*')],
    ['a longer prefix before a method', prefix('/a/b'), get],
    ['a method before headers', get, { ...prefix('/a'), headers: headers('h1', 'h2') }],
    ['more headers', { ...prefix('/a'), headers: headers('h1', 'h2') }, { ...prefix('/a'), headers: headers('h1') }],
    [
      'headers before query',
      { ...prefix('/a'), headers: headers('h1') },
      { ...prefix('/a'), query: headers('p', 'q') },
    ],
    ['more query', { ...prefix('/a'), query: headers('p', 'q') }, { ...prefix('/a'), query: headers('p') }],
  ])('%s', (_name, better, worse) => {
    const young = routeConfig('z/better', { created: '2026-01-02T00:00:00Z', ...withMatches(better) });
    const old = routeConfig('a/worse', { created: '2020-01-02T00:00:00Z', ...withMatches(worse) });
    expect(winner(tableOf(old, young), request)).toBe('z/better 0.0');
    expect(winner(tableOf(old), request)).toBe('a/worse 0.0');
  });

  test('the older route, then the name with its namespace', () => {
    const at = (name: string, created: string) => routeConfig(name, { created });
    const old = at('z/z', '2025-12-31T23:59:59Z');
    expect(winner(tableOf(at('a/a', '2026-01-01T00:00:00Z'), old), request)).toBe('z/z 0.0');
    expect(winner(tableOf(at('b/a', old.created), old, at('a/z', old.created)), request)).toBe('a/z 0.0');
    expect(winner(tableOf(at('a/ab', old.created), at('a/a', old.created)), request)).toBe('a/a 0.0');
  });

  test('the first rule, then its first match, beyond nine too', () => {
    const rules = Array.from({ length: 12 }, (_, index) => routeRule(index, prefix('/b'), prefix('/b')));
    const [, , third, ...rest] = rules;
    const request = routeRequest('http://h/b');
    expect(winner(tableOf(routeConfig('a/r', { rules })), request)).toBe('a/r 0.0');
    expect(winner(tableOf(routeConfig('a/r', { rules: third === undefined ? [] : [...rest, third] })), request)).toBe(
      'a/r 2.0',
    );
  });

  test('the same header matches in another order are a tie, so the first rule wins', () => {
    const rules = [
      routeRule(0, { ...exact('/a/b'), headers: headers('h1', 'h2') }),
      routeRule(1, { ...exact('/a/b'), headers: headers('h2', 'h1') }),
    ];
    expect(winner(tableOf(routeConfig('a/r', { rules })), request)).toBe('a/r 0.0');
  });
});

describe('headers, query and method', () => {
  const table = tableOf(
    routeConfig('a/r', {
      ...withMatches({
        ...prefix('/'),
        method: 'POST',
        headers: [{ name: 'x-env', type: 'RegularExpression', value: 'dev|test' }],
        query: [{ name: 'Q', type: 'Exact', value: '1' }],
      }),
    }),
  );

  test.each([
    ['POST', 'http://h/?Q=1', { 'x-env': 'test' }, 'matches'],
    ['GET', 'http://h/?Q=1', { 'x-env': 'test' }, 'method "GET" is not "POST"'],
    ['POST', 'http://h/?q=1', { 'x-env': 'test' }, 'query parameter "Q" is absent'],
    ['POST', 'http://h/?Q=2', { 'x-env': 'test' }, 'query parameter "Q" is "2", not "1"'],
    ['POST', 'http://h/?Q=1', {}, 'header "x-env" is absent'],
    [
      'POST',
      'http://h/?Q=1',
      { 'x-env': 'testing' },
      'header "x-env" is "testing", which the expression "dev|test" does not match whole',
    ],
    ['GET', 'http://h/', { 'x-env': 'dev' }, 'method "GET" is not "POST"; query parameter "Q" is absent'],
  ])('%s %s %j: %s', (method, url, headers, verdict) => {
    const request = routeRequest(url, { method, headers });
    expect([...table.candidates('web', request)].map(verdictOf)).toEqual([verdict]);
    expect(winner(table, request)).toBe(verdict === 'matches' ? 'a/r 0.0' : undefined);
  });
});

describe('candidates', () => {
  test('come in order of precedence, those of other hostnames included', () => {
    const table = tableOf(
      routeConfig('a/any'),
      routeConfig('a/other', onHosts('b.example.com')),
      routeConfig('a/wild', { ...onHosts('*.example.com'), ...withMatches(prefix('/x')) }),
      routeConfig('a/elsewhere', { attachments: [{ listener: 'other', hostnames: [''] }] }),
    );
    const seen = [...table.candidates('web', routeRequest('http://a.example.com/'))];
    expect(seen.map((seenCandidate) => [seenCandidate.candidate.route.route, verdictOf(seenCandidate)])).toEqual([
      ['a/other', 'host "a.example.com" is not covered by "b.example.com"'],
      ['a/wild', 'path "/" is not below "/x"'],
      ['a/any', 'matches'],
    ]);
  });
});

describe('changes', () => {
  test('a route that comes again replaces all of its entries', () => {
    const table = tableOf(routeConfig('a/r', { ...onHosts('a.example', '*.b.example'), ...withMatches(exact('/1')) }));
    table.upsert(routeConfig('a/r', { ...onHosts('c.example'), ...withMatches(prefix('/2')) }));
    expect(winner(table, routeRequest('http://a.example/1'))).toBeUndefined();
    expect(winner(table, routeRequest('http://x.b.example/1'))).toBeUndefined();
    expect(winner(table, routeRequest('http://c.example/2'))).toBe('a/r 0.0');
  });

  test('removing one of two equal entries leaves the other', () => {
    const table = tableOf(routeConfig('a/one'), routeConfig('a/two'));
    table.remove('route/a/one');
    table.remove('route/a/one');
    expect(winner(table, routeRequest('http://h/'))).toBe('a/two 0.0');
  });

  test('a route attached to a listener by two parentRefs counts once', () => {
    const twice = [
      { listener: 'web', hostnames: ['a.example'] },
      { listener: 'web', hostnames: ['a.example', 'b.example'] },
    ];
    const table = tableOf(routeConfig('a/r', { attachments: twice }));
    expect([...table.candidates('web', routeRequest('http://a.example/'))]).toHaveLength(2);
    table.remove('route/a/r');
    expect(table.isEmpty).toBe(true);
  });
});

describe('the work of expressions for one request', () => {
  const expressions = 1_000;
  const table = tableOf(
    routeConfig('a/many', {
      rules: Array.from({ length: expressions }, (_, index) =>
        routeRule(index, routeMatch({ headers: [{ type: 'RegularExpression', name: 'x-a', value: `.*${index}` }] })),
      ),
    }),
  );
  const withValue = (length: number) => routeRequest('http://h/', { headers: { 'x-a': 'a'.repeat(length) } });

  test('may read values up to the limit', () => {
    expect(table.match('web', withValue(maxMatchedCharacters / expressions))).toBeUndefined();
  });

  test('is refused beyond the limit, whatever the routes', () => {
    expect(() => table.match('web', withValue(maxMatchedCharacters / expressions + 1))).toThrow(MatchTooCostly);
  });

  test('counts only the characters that the expressions read', () => {
    const ofStart = tableOf(
      routeConfig('a/many', {
        rules: Array.from({ length: expressions }, (_, index) =>
          routeRule(index, routeMatch({ headers: [{ type: 'RegularExpression', name: 'x-a', value: `b${index}.*` }] })),
        ),
      }),
    );
    expect(ofStart.match('web', withValue(30_000))).toBeUndefined();
  });

  test('is not limited for a list of candidates', () => {
    const request = withValue(maxMatchedCharacters / expressions + 1);
    expect([...table.candidates('web', request)]).toHaveLength(expressions);
  });
});

describe('the conditions that are checked for one request', () => {
  /** Each match takes a condition for its path, and one for its header. */
  const tableWith = (matches: number) =>
    tableOf(
      routeConfig('a/many', {
        rules: [
          routeRule(
            0,
            ...Array.from({ length: matches }, (_, index) =>
              routeMatch({ index, headers: [{ type: 'Exact', name: 'x-a', value: `${index}` }] }),
            ),
          ),
        ],
      }),
    );

  test('are those of all matches up to the limit', () => {
    expect(tableWith(maxCheckedConditions / 2).match('web', routeRequest('http://h/'))).toBeUndefined();
  });

  test('are no more than the limit', () => {
    const table = tableWith(maxCheckedConditions / 2 + 1);
    expect(() => table.match('web', routeRequest('http://h/'))).toThrow(MatchTooCostly);
    expect(winner(table, routeRequest('http://h/', { headers: { 'x-a': '7' } }))).toBe('a/many 0.7');
  });
});

describe('scale', () => {
  const many = 10_000;

  /** How many of the entries a lookup looks into: each asks for a header. */
  function entriesTried(table: RouteTable, url: string): number {
    let tried = 0;
    const header = () => {
      tried += 1;
      return 'x';
    };
    expect(table.match('web', { ...routeRequest(url), header })).toBeDefined();
    return tried;
  }

  const asking = { headers: [{ name: 'h', type: 'Exact' as const, value: 'x' }] };

  test('with many hostnames a request tries the entries of its own only', () => {
    const table = tableOf();
    for (let index = 0; index < many; index++) {
      const name = index % 2 === 0 ? `h${index}.example` : `*.h${index}.example`;
      table.upsert(routeConfig(`a/${index}`, { ...onHosts(name), ...withMatches({ ...prefix('/'), ...asking }) }));
    }
    expect(entriesTried(table, 'http://h5000.example/x')).toBe(1);
    expect(entriesTried(table, 'http://deep.x.h5001.example/x')).toBe(1);
  });

  test('with many paths a request tries the entries on its way only', () => {
    const table = tableOf();
    for (let index = 0; index < many; index++) {
      const path = index % 2 === 0 ? exact(`/a/${index}`) : prefix(`/a/${index}`);
      table.upsert(routeConfig(`a/${index}`, withMatches({ ...path, ...asking })));
    }
    expect(entriesTried(table, 'http://h/a/5000')).toBe(1);
    expect(entriesTried(table, 'http://h/a/5001/b/c')).toBe(1);
  });
});
