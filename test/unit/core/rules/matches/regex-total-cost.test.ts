import { describe, expect, test } from '@jest/globals';
import type { Write } from '../../../../../src/core/incremental/index.ts';
import { parseObject } from '../../../../../src/core/resources/parse.ts';
import type { Resource } from '../../../../../src/core/resources/resource.ts';
import { configuration } from '../../../../../src/core/routing/emit.ts';
import { dataPlaneExpressionBytes } from '../../../../../src/core/rules/matches/data-plane-expressions.ts';
import {
  judgeExpressions,
  routeExpressionLimits,
  type JudgedExpressions,
} from '../../../../../src/core/rules/matches/expressions.ts';
import { findings } from '../../../../../src/core/rules/engine/run.ts';
import { patternLimits } from '../../../../../src/core/patterns/pattern.ts';
import { evaluate, found, ourClass, writeOf } from '../../../../support/evaluation.ts';
import { gatewayWith, grpcRouteWith, routeWith } from '../../../../support/rules.ts';

const type = 'RegularExpression';
const front = gatewayWith({ name: 'http', port: 80, protocol: 'HTTP' });

function pathMatch(value: string): object {
  return { path: { type, value } };
}

/** An HTTPRoute `shop/<name>` at `front` with a match for each of these paths. */
function route(name: string, paths: readonly string[], created = '2026-01-01T00:00:00Z'): object {
  const spec = {
    parentRefs: [{ name: 'front' }],
    rules: [{ matches: paths.map(pathMatch) }, { matches: [{ path: { value: `/${name}` } }] }],
  };
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { namespace: 'shop', name, creationTimestamp: created },
    spec,
  };
}

/** Expressions that take some 70 KiB each. */
function large(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `/${index}/${'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(26)}`);
}

/** Expressions that take few bytes and many steps. */
function laborious(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `/${index}/([ab]?[bc]?[cd]?){0,40}`);
}

function judged(json: unknown): JudgedExpressions {
  const parsed = parseObject(json);
  if (parsed.type !== 'resource') throw new Error('no object of ours');
  return judgeExpressions(parsed.resource as Resource<'HTTPRoute'>);
}

function written(json: unknown): Write {
  const parsed = parseObject(json);
  if (parsed.type !== 'resource') throw new Error('no object of ours');
  return writeOf(parsed.resource.ref, parsed.resource);
}

const places = (json: unknown): readonly string[] => judged(json).beyond.map(({ path }) => path.join('.'));

describe('regex-total-cost', () => {
  test('invalid expressions for methods of gRPC services count like those for paths', () => {
    const invalid = Array.from({ length: 64 }, (_, index) => `${'[[:'.repeat(340)}${index}`);
    const calls = grpcRouteWith({ matches: invalid.map((method) => ({ method: { type, method } })) });
    const { beyond, unusable } = judged(calls);
    expect(beyond.length).toBe(judged(routeWith({ matches: invalid.map(pathMatch) })).beyond.length);
    expect(beyond).not.toEqual([]);
    expect(unusable.length + beyond.length).toBe(64);
  });

  test.each<[string, unknown]>([
    [
      'as many ordinary expressions as a route may have',
      routeWith(
        ...Array.from({ length: 16 }, (_rule, rule) => ({
          matches: Array.from({ length: 8 }, (_match, match) => pathMatch(`/api/v${rule}-${match}/[a-z]+/[^/]+`)),
        })),
      ),
    ],
    [
      'the same expression again and again',
      routeWith(...Array.from({ length: 10 }, () => ({ matches: Array(6).fill(pathMatch(laborious(1)[0] ?? '')) }))),
    ],
    [
      'values that are compared',
      routeWith({ matches: laborious(40).map((value) => ({ path: { type: 'Exact', value } })) }),
    ],
  ])('%s: fine', (_, json) => {
    expect(places(json)).toEqual([]);
  });

  test('what others left nothing for is not compiled, and nothing is compiled beyond that', () => {
    const { beyond } = judged(routeWith({ matches: laborious(12).map(pathMatch) }));
    expect(beyond.length).toBeGreaterThan(2);
    expect(beyond.length).toBeLessThan(12);
    expect(beyond.at(-1)?.path.join('.')).toBe('spec.rules.0.matches.11.path.value');
  });

  test('bytes count, too', () => {
    const { bytes, beyond } = judged(routeWith({ matches: large(40).map(pathMatch) }));
    expect(bytes).toBeLessThanOrEqual(routeExpressionLimits.bytes + patternLimits.bytes);
    expect(beyond.length).toBeGreaterThan(20);
  });

  test('expressions of a call are judged as the one that a data plane compiles', () => {
    const call = (service: string, method: string): unknown =>
      grpcRouteWith({ matches: [{ method: { type, service, method } }] });
    expect(judged(call('a{1,900}', 'b{1,900}')).unusable).toEqual([]);
    expect(judged(call('a{1,1000}', 'b{1,1000}')).unusable.map(({ path }) => path.join('.'))).toEqual([
      'spec.rules.0.matches.0.method',
    ]);
    expect(judged(call('a**', 'b')).unusable.map(({ path }) => path.join('.'))).toEqual([
      'spec.rules.0.matches.0.method.service',
    ]);
    expect(judged(call('\\Qa', 'b')).unusable.map(({ path }) => path.join('.'))).toEqual([
      'spec.rules.0.matches.0.method',
    ]);
  });

  test('names the expression, says what to write, and its match matches nothing', () => {
    const [first] = found('regex-total-cost', [route('cart', laborious(12)), front, ourClass]);
    expect(first).toEqual([
      'spec.rules[0].matches[5].path.value',
      'Regular expression "/5/([ab]?[bc]?[cd]?){0,40}" is not compiled, so the match matches nothing: the expressions before it in this route reach the limit of 600000 steps or 512 KiB. Use fewer or cheaper expressions, without large counts and classes such as \\p{L}, or move rules to another route.',
      'Accepted UnsupportedValue match',
    ]);
  });

  test('the oldest routes of a Gateway fit into its data plane, the rest of their rules are served', () => {
    const each = judged(route('any', large(6))).bytes;
    const fitting = Math.floor(dataPlaneExpressionBytes / each);
    const older = Array.from({ length: fitting }, (_, index) => route(`old-${index}`, large(6)));
    const young = route('young', large(6), '2026-06-01T00:00:00Z');
    const [first, ...others] = found('regex-total-cost', [young, ...older, front, ourClass]);
    expect(others).toHaveLength(5);
    expect(first?.slice(0, 1)).toEqual(['spec.rules[0].matches[0].path.value']);
    expect(first?.[1]).toMatch(
      /the expressions of this and older routes need more than the 32 MiB that the data plane of Gateway "shop\/front" has for them\. Remove expressions/,
    );

    expect(found('regex-total-cost', [young, ...older.slice(1), front, ourClass])).toEqual([]);
    const world = evaluate([young, ...older, front, ourClass]);
    const matches = [...world.kernel.emitted(configuration).values()].flatMap((resource) =>
      resource.kind === 'route' && resource.key.endsWith('young')
        ? resource.rules.map((rule) => rule.matches.length)
        : [],
    );
    expect(matches).toEqual([0, 1]);
    expect(found('regex-total-cost', [older[0], ...older.slice(1), young, front, ourClass])).toEqual([]);
  });

  test('beyond the limit of a Gateway, one more route does not judge all others again', () => {
    const each = judged(route('any', large(6))).bytes;
    const many = Math.ceil(dataPlaneExpressionBytes / each) + 20;
    const { kernel } = evaluate([
      ...Array.from({ length: many }, (_, index) => route(`old-${index}`, large(6))),
      front,
      ourClass,
    ]);
    const before = kernel.statistics().recomputations;
    kernel.apply([written(route('young', large(6), '2026-06-01T00:00:00Z'))]);
    expect(kernel.statistics().recomputations - before).toBeLessThan(many / 2);
  });

  test('within the limit of a Gateway, a change of one route concerns no other one', () => {
    const many = 200;
    const { kernel } = evaluate([
      ...Array.from({ length: many }, (_, index) => route(`old-${index}`, [`/${index}[a-z]`])),
      front,
      ourClass,
    ]);
    const before = kernel.statistics().marks;
    kernel.apply([written(route('old-7', ['/other[a-z]+']))]);
    expect(kernel.statistics().marks - before).toBeLessThan(many);
  });

  test('the limit of a Gateway counts a route that is reviewed', () => {
    const each = judged(route('any', large(6))).bytes;
    const fitting = Math.floor(dataPlaneExpressionBytes / each);
    const { kernel } = evaluate([
      ...Array.from({ length: fitting }, (_, index) => route(`old-${index}`, large(6))),
      front,
      ourClass,
    ]);
    const { read } = kernel.overlay([written(route('oldest', large(6), '2025-01-01T00:00:00Z'))]);
    const without = Array.from({ length: fitting }, (_, index) => `old-${index}`).filter((name) =>
      read.query(findings, 'HTTPRoute', 'shop', name).some(({ rule }) => rule === 'regex-total-cost'),
    );
    expect(without).toHaveLength(1);
  });
});
