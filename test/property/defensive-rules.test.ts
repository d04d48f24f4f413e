import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { defensiveRules } from '../../src/core/rules/engine/link-rules.ts';
import { findingsOf, gatewayWith, httpRoute, unenforcedFindings } from '../support/rules.ts';

const headers = { set: [{ name: 'a', value: 'b' }], add: [{ name: 'A', value: 'c' }], remove: ['a', 'x y'] };
const filters = [
  { type: 'RequestHeaderModifier', requestHeaderModifier: headers },
  {
    type: 'URLRewrite',
    urlRewrite: { hostname: '1.2.3.4', path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
  },
  { type: 'RequestRedirect', requestRedirect: { path: { type: 'ReplaceFullPath', replaceFullPath: '/' } } },
  { type: 'RequestMirror', requestMirror: { backendRef: { name: 'a' } } },
];
const route = httpRoute({
  parentRefs: [{ name: 'front' }, { name: 'front', namespace: 'shop' }],
  hostnames: ['a.example'],
  rules: [
    {
      name: 'one',
      matches: [
        {
          path: { type: 'RegularExpression', value: '(' },
          headers: [{ name: 'a', value: 'b' }],
          queryParams: [{ name: 'a', value: 'b' }],
        },
      ],
      filters,
      backendRefs: [{ name: 'a', filters }],
      timeouts: { request: '1s', backendRequest: '2s' },
    },
  ],
});
const gateway = gatewayWith({
  name: 'a',
  protocol: 'TLS',
  hostname: 'a.example',
  tls: { mode: 'Terminate' },
  allowedRoutes: {
    namespaces: { from: 'Selector', selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] } },
  },
});

type Path = readonly (string | number)[];

/** The path of every value inside `spec`. */
function pathsOf(value: unknown, path: Path): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [path, ...keys.flatMap((key) => pathsOf((value as Record<string | number, unknown>)[key], [...path, key]))];
}

function withReplaced(value: unknown, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  copy[key] = withReplaced(copy[key], rest, replacement);
  return copy;
}

const replacement = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('a', '1', '/', '.', ':', '"', '\n', '\r', '\0', '\u0085', '\u202e', '\ud800'),
    minLength: 1,
  }),
  fc.constant(JSON.parse('{"__proto__": {"type": "URLRewrite"}, "constructor": 1}') as unknown),
);

function findingsIn(object: unknown) {
  return [...defensiveRules.flatMap((rule) => findingsOf(rule, object)), ...unenforcedFindings(object)];
}

describe('defensive rules', () => {
  test.each([
    ['an HTTPRoute', route],
    ['a Gateway', gateway],
  ])('judge %s with anything put in any place', (_, object) => {
    const paths = pathsOf((object as { readonly spec: unknown }).spec, ['spec']);
    fc.assert(
      fc.property(fc.constantFrom(...paths), replacement, (path, value) => {
        const changed = withReplaced(object, path, value);
        const before = JSON.stringify(changed);
        const found = findingsIn(changed);
        // The user's object is only described, never changed, and no message can break a log line or a header.
        expect(JSON.stringify(changed)).toBe(before);
        expect(found.filter(({ message, value: shown = '' }) => /[\p{Cc}\p{Cs}]/u.test(message + shown))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('show a name that two parentRefs share without its control characters', () => {
    const found = findingsIn(httpRoute({ parentRefs: [{ name: 'a\n' }, { name: 'a\n' }], rules: [] }));
    expect(found.map(({ value }) => value)).toEqual(['shop/a\\n']);
  });

  test('find something in the objects that this test starts from', () => {
    const found = [route, gateway].flatMap((object) => findingsIn(object));
    expect(new Set(found.map(({ rule }) => rule)).size).toBeGreaterThan(10);
  });
});
