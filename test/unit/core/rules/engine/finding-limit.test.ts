import { describe, expect, test } from '@jest/globals';
import { findingsPerRule, FindingsOfRule } from '../../../../../src/core/rules/engine/finding-limit.ts';
import type { Consequence, Finding } from '../../../../../src/core/rules/engine/rule.ts';
import { checkRouteFeatures } from '../../../../../src/core/rules/support/unsupported-route-features.ts';
import type { Resource } from '../../../../../src/core/resources/resource.ts';
import { findings } from '../../../../../src/core/rules/engine/run.ts';
import { partProblems } from '../../../../../src/core/rules/engine/validity.ts';
import { judgeByBundle } from '../../../../../src/core/rules/engine/judge-by-bundle.ts';
import { examine } from '../../../../../src/core/schema/index.ts';
import { evaluate } from '../../../../support/evaluation.ts';

const headers = Array.from({ length: 16 }, (_, index) => ({ name: `x-${index}`, value: 'a' }));
const filter = {
  type: 'RequestHeaderModifier',
  requestHeaderModifier: { set: headers, remove: headers.map(({ name }) => name) },
};
const backendRefs = Array.from({ length: 8 }, () => ({ name: 'cart', port: 80, filters: [filter] }));
const route = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'cart', namespace: 'shop' },
  spec: { rules: Array.from({ length: 16 }, () => ({ filters: [filter], backendRefs })) },
};

describe('findings of one rule about one object', () => {
  test('are told one by one up to a limit, after which each part that fails has one', () => {
    const { kernel } = evaluate([route]);
    const found = kernel.read
      .query(findings, 'HTTPRoute', 'shop', 'cart')
      .filter(({ rule }) => rule === 'header-acted-on-twice');
    const violations = 16 * 9 * 16;
    const parts = 16 * 9;
    expect(found.length).toBeLessThan(250 + parts);
    expect(found.length).toBeLessThan(violations);
    const failing = kernel.read
      .query(partProblems, 'HTTPRoute', 'shop', 'cart')
      .filter(({ reason }) => reason === 'UnsupportedValue')
      .map(({ scope, part }) => `${scope} ${part}`);
    expect(new Set(failing)).toEqual(
      new Set(route.spec.rules.flatMap((_, index) => [`rule ${index}`, `backendRef ${index}`])),
    );
  });

  test('are one for each backendRef and each filter of a rule after the limit if they are about mirrors', () => {
    const mirrorsOf = (...place: readonly number[]) =>
      Array.from({ length: 16 }, (_, index) => ({
        type: 'RequestMirror',
        requestMirror: { backendRef: { name: ['copy', ...place, index].join('-'), port: 80 } },
      }));
    const rules = Array.from({ length: 16 }, (_, index) => ({
      filters: mirrorsOf(index),
      backendRefs: Array.from({ length: 16 }, (__, backend) => ({
        name: 'cart',
        port: 80,
        filters: mirrorsOf(index, backend),
      })),
    }));
    const { kernel } = evaluate([{ ...route, spec: { rules } }]);
    const mirrors = kernel.read
      .query(partProblems, 'HTTPRoute', 'shop', 'cart')
      .filter(({ scope }) => scope === 'mirror');
    expect(mirrors.length).toBeLessThan(250 + 16 * (16 + 16));
    expect(new Set(mirrors.map(({ part }) => part))).toEqual(new Set(rules.keys()));
  });

  test('are counted beyond the limit where only admission asks', () => {
    const options = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`key-${index}`, 'a']));
    const listeners = Array.from({ length: 64 }, (_, index) => ({
      name: `l${index}`,
      port: 1 + index,
      protocol: 'HTTPS',
      tls: { options },
    }));
    const json = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { gatewayClassName: 'a', listeners },
    };
    const bundle = { minor: '1.7', channel: 'standard' } as const;
    const written = { kind: 'Gateway', apiVersion: json.apiVersion, json } as const;
    const found = judgeByBundle(written, examine(written, bundle), bundle).unenforced.filter(
      ({ rule }) => rule === 'option-key',
    );
    expect(found).toHaveLength(251);
    expect(found.at(-1)).toEqual({
      rule: 'option-key',
      path: [],
      message: `The rule has ${64 * 16 - 250} more findings in this object. Fix the others first.`,
    });
  });
});

const consequence: Consequence = { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' };

function inFilter(filter: number, index: number) {
  const path = ['spec', 'rules', 0, 'filters', filter, 'requestHeaderModifier', 'remove', index];
  return { rule: 'a-rule', path, consequence, message: 'Duplicate.' };
}

test('beyond the limit, one finding for each part is kept, and the rule learns which are not', () => {
  const limited = new FindingsOfRule();
  for (let index = 0; index < findingsPerRule; index += 1) expect(limited.add(inFilter(0, index))).toBe(true);
  expect(limited.add(inFilter(0, findingsPerRule))).toBe(false);
  expect(limited.add(inFilter(1, 0))).toBe(true);
  expect(limited.add(inFilter(1, 1))).toBe(false);
  expect(limited.found).toHaveLength(findingsPerRule + 1);
});

// 160,000 of them took 0.2 s in one step.
test('the findings of invalid retry codes are limited in each rule of a route, and fail each of these rules', () => {
  const codes = Array.from({ length: 5_000 }, () => 1);
  const rules = Array.from({ length: 16 }, () => ({ backendRefs: [], retry: { codes } }));
  const found: Omit<Finding, 'rule'>[] = [];
  const subject = { ...route, spec: { rules } } as unknown as Resource<'HTTPRoute'>;
  checkRouteFeatures(subject, (finding) => found.push(finding) > 0);
  expect(found).toHaveLength(16 * 100);
  expect(new Set(found.map(({ path }) => path[2])).size).toBe(16);
});
