import { expect, test } from '@jest/globals';
import { findingsIn, impactIn } from '../../../../src/cli/report/in-namespace.ts';
import type { PreflightFinding } from '../../../../src/core/preflight/finding.ts';

function finding(subject: string): PreflightFinding {
  return { check: 'pruned-fields', severity: 'warning', subject, message: 'A field is dropped.', commands: [] };
}

function subjects(namespace: string | undefined, ...all: readonly string[]): readonly string[] {
  return findingsIn(namespace, all.map(finding)).map(({ subject }) => subject);
}

test('findings about CRDs and clients concern every namespace', () => {
  const all = [
    'HTTPRoute shop/cart',
    'HTTPRoute shop-2/cart',
    'httproutes.gateway.networking.k8s.io',
    'helm in shop-2/x',
  ];
  expect(subjects('shop', ...all)).toEqual(['HTTPRoute shop/cart', ...all.slice(2)]);
  expect(subjects(undefined, ...all)).toEqual(all);
});

test('requests concern the namespace of the Gateway and those of the routes', () => {
  const outcome = (rule: string | undefined) => ({ rule, decision: 'forward', shares: [] });
  const change = (gateway: string, before: string | undefined, after: string | undefined) => ({
    gateway,
    request: `GET http://${gateway}/`,
    place: '',
    before: outcome(before),
    after: outcome(after),
    effect: 'changed' as const,
  });
  const routing = [
    change('shop/web', undefined, undefined),
    change('infra/web', 'HTTPRoute shop/cart rule 0 match 0', undefined),
    change('infra/web', undefined, 'GRPCRoute shop/cart rule 0 match 0'),
    change('infra/web', 'HTTPRoute market/cart rule 0 match 0', undefined),
  ];
  const impact = { statuses: [], routing, incomplete: false };
  expect(impactIn('shop', impact).routing).toEqual(routing.slice(0, 3));
  expect(impactIn(undefined, impact)).toEqual(impact);
});
