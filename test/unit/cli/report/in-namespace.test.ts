import { expect, test } from '@jest/globals';
import { findingsIn, impactIn, reportIn } from '../../../../src/cli/report/in-namespace.ts';
import type { Report, Reported } from '../../../../src/cli/report/report.ts';
import type { PreflightFinding } from '../../../../src/core/preflight/finding.ts';
import type { SourceDocument } from '../../../../src/files/document.ts';

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

test('objects that cannot be read, and objects without a namespace, concern the namespace', async () => {
  const reported = (name: string, metadata: object): Reported => ({
    type: 'judged',
    file: 'a.yaml',
    name,
    document: { value: { metadata } } as unknown as SourceDocument,
    findings: [],
  });
  const problem: Reported = { type: 'problem', file: 'b.yaml', findings: [] };
  const kept = [
    reported('HTTPRoute shop/cart', { namespace: 'shop' }),
    reported('HTTPRoute default/cart', {}),
    reported('document', {}),
    problem,
  ];
  const others = [reported('HTTPRoute default/cart', { namespace: 'default' }), reported('GatewayClass shop', {})];
  async function* report(): Report {
    yield* [...kept, ...others];
  }
  const all = async (namespace: string | undefined): Promise<readonly Reported[]> => {
    const found: Reported[] = [];
    for await (const one of reportIn(namespace, report())) found.push(one);
    return found;
  };
  expect(await all('shop')).toEqual(kept);
  expect(await all(undefined)).toHaveLength(6);
});
