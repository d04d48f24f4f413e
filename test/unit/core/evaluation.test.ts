import { describe, expect, test } from '@jest/globals';
import { findingCounts } from '../../../src/core/admission/impact.ts';
import { judge } from '../../../src/core/admission/judge.ts';
import { createEvaluation } from '../../../src/core/evaluation.ts';
import { installationCell } from '../../../src/core/graph/inputs.ts';
import { write, type Kernel } from '../../../src/core/incremental/index.ts';
import type { Emission } from '../../../src/core/incremental/reader.ts';
import { findings } from '../../../src/core/rules/engine/run.ts';
import { statuses } from '../../../src/core/status/emit.ts';
import { candidateOf, installation, ourClass, standardPolicy, writeOf } from '../../support/evaluation.ts';

const gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { gatewayClassName: 'sallyport', listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] },
};
const route = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'cart', namespace: 'shop' },
  spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }] },
};

function evaluated(...emissions: readonly Emission<unknown>[]): Kernel {
  const kernel = createEvaluation(emissions);
  kernel.apply([
    write(installationCell, [], installation),
    ...[ourClass, gateway, route]
      .map((json) => candidateOf(json).resource)
      .map((resource) => writeOf(resource.ref, resource)),
  ]);
  return kernel;
}

describe('evaluation', () => {
  test('finds the same, whatever is followed', () => {
    const [none, counts, all] = [evaluated(), evaluated(findingCounts), evaluated(statuses)].map((kernel) =>
      kernel.read.query(findings, 'HTTPRoute', 'shop', 'cart'),
    );
    expect(all?.map(({ rule }) => rule)).toEqual(['backend-not-found']);
    expect([none, counts]).toEqual([all, all]);
  });

  test.each([
    ['nothing', []],
    ['findings, as the webhook does', [findingCounts]],
    ['statuses', [statuses]],
  ])('judges a policy whose Gateways decide on the effect of findings, following %s', (_, emissions) => {
    const policy = candidateOf({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'BackendTLSPolicy',
      metadata: { name: 'cart', namespace: 'shop' },
      spec: {
        targetRefs: [{ group: '', kind: 'Service', name: 'absent' }],
        validation: { hostname: 'cart.example.com', wellKnownCACertificates: 'System' },
      },
    });
    const kernel = evaluated(...emissions);
    const { read } = kernel.overlay([writeOf(policy.resource.ref, policy.resource)]);
    expect(judge(read, policy, standardPolicy).map(({ rule }) => rule)).toEqual(['backend-policy-target-missing']);
  });

  test('keeps no more than what is followed can read', () => {
    // The route's hostnames, its matches, the requests that it takes and the size of its regular expressions, which findings of
    // other routes depend on, and the Gateways of its Services, which own BackendTLSPolicies. The last one also exists for the Gateway,
    // whose listener filters may name Services, and so does the first of its expressions without room.
    expect(evaluated().statistics().contributors).toBe(7);
    // The findings of the three objects themselves.
    expect(evaluated(findingCounts).statistics().contributors).toBe(10);
    expect(evaluated(statuses).statistics().contributors).toBeGreaterThan(7);
  });
});
