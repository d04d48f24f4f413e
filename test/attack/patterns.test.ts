import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { parseObject } from '../../src/core/resources/parse.ts';
import type { Resource } from '../../src/core/resources/resource.ts';
import { judgeExpressions, routeExpressionLimits } from '../../src/core/rules/matches/expressions.ts';
import { compilePattern, patternLimits } from '../../src/core/patterns/pattern.ts';
import { isFull, scaled } from './support/scale.ts';
import { deployed } from '../bench/memory/components.ts';

const type = 'RegularExpression';
const apiVersion = 'gateway.networking.k8s.io/v1';

/** Expressions that cost a lot in one way or another, each different by its number. */
const hostile: Readonly<Record<string, (number: number) => string>> = {
  'Unicode classes, repeated': (number) => `a${number}\\p{L}{1,1000}`,
  'Unicode classes of either case': (number) => `(?i)${number}[\\pL\\pN\\pM\\pS][^\\pL\\pC]`,
  'nested repetitions': (number) => `((((${number}{9}){9}){9}){9}){9}`,
  'optional parts': (number) => `${number}(a?){1,1000}`,
  'counts after .*': (number) => `.*${number}a.{30}`,
  'counts among alternatives': (number) => `${number}([ab]?[bc]?[cd]?){0,40}`,
  'many classes': (number) =>
    `${number}${Array.from({ length: 200 }, (_, index) => `[^${String.fromCharCode(0x4e00 + index)}]`).join('')}`,
  'long literals': (number) => `${number}${'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(26)}`,
  'huge ranges of either case': (number) => `(?i)${number}[A-\\x{10ffff}]{1,900}`,
  'every class there is': (number) =>
    `${number}${['L', 'M', 'N', 'P', 'S', 'Z', 'C', 'Greek', 'Han', 'Latin'].map((name) => `[\\p{${name}}]`).join('')}`,
};

/** Routes with an expression in every field that takes one: as many matches, headers and query parameters as the CRDs accept. */
function routesOf(make: (number: number) => string, matches: number): readonly object[] {
  let number = 0;
  const next = (): string => {
    number += 1;
    return make(number);
  };
  const named = (): object[] => Array.from({ length: 16 }, (_, index) => ({ type, name: `x-${index}`, value: next() }));
  const rulesOf = (match: () => object): object[] =>
    Array.from({ length: matches / 8 }, () => ({ matches: Array.from({ length: 8 }, match) }));
  const metadata = { namespace: 'shop', name: 'cart' };
  return [
    {
      apiVersion,
      kind: 'HTTPRoute',
      metadata,
      spec: { rules: rulesOf(() => ({ path: { type, value: next() }, headers: named(), queryParams: named() })) },
    },
    {
      apiVersion,
      kind: 'GRPCRoute',
      metadata,
      spec: { rules: rulesOf(() => ({ method: { type, service: next(), method: next() }, headers: named() })) },
    },
  ];
}

describe.each(Object.entries(hostile))('%s in every field', (_, make) => {
  test('the expressions that are compiled stay within the limits of a route', () => {
    for (const route of routesOf(make, scaled(16, 64))) {
      const parsed = parseObject(route);
      if (parsed.type !== 'resource') throw new Error('not an object of ours');
      const { bytes } = judgeExpressions(parsed.resource as Resource<'HTTPRoute'>);
      expect(bytes).toBeLessThanOrEqual(routeExpressionLimits.bytes + patternLimits.bytes);
    }
  });

  test('one expression stays within its limits', () => {
    const compiled = compilePattern(make(1));
    expect(compiled.ok ? compiled.pattern.bytes : 0).toBeLessThanOrEqual(patternLimits.bytes);
    if (compiled.ok)
      expect(
        ['', 'a'.repeat(8_192), '1'.repeat(32_768)].map((value) => typeof compiled.pattern.matches(value)),
      ).toEqual(['boolean', 'boolean', 'boolean']);
  });
});

if (isFull) {
  describe.each(Object.entries(hostile))('%s with the heap of a pod', (_, make) => {
    test('a route takes little time and memory', async () => {
      const earlier = routesOf((number) => make(100_000 + number), 128);
      for (const route of routesOf(make, 128)) {
        const { cpu, memory } = await judgedApart([
          ...earlier,
          ...routesOf((number) => make(200_000 + number), 128),
          route,
        ]);
        expect(cpu).toBeLessThan(100);
        expect(memory).toBeLessThan(20);
      }
    });
  });
}

/** What judging the last of some routes takes in a process with the options of the webhook: milliseconds of the processor, MiB. */
async function judgedApart(routes: readonly object[]): Promise<{ readonly cpu: number; readonly memory: number }> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'test/attack/support/judge-route.ts'],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: deployed('deploy/base/webhook.yaml').options },
    },
  );
  child.stdin.end(JSON.stringify(routes));
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect(code).toBe(0);
  return JSON.parse(output) as { readonly cpu: number; readonly memory: number };
}
