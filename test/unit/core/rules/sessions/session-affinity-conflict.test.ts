import { describe, expect, test } from '@jest/globals';
import { found, serviceWith } from '../../../../support/evaluation.ts';
import { routeWith } from '../../../../support/rules.ts';
import { trafficPolicy } from '../../../../support/traffic-policy.ts';

const experimental = { bundle: { minor: '1.7', channel: 'experimental' } } as const;
const sessionPersistence = { cookie: { name: 'cart' } };
const imported = { group: 'multicluster.x-k8s.io', kind: 'ServiceImport' };

function serviceImport(type: string): object {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImport',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { type, sessionAffinity: 'ClientIP', ports: [{ port: 8080 }] },
  };
}

const findings = (rule: object, ...others: readonly unknown[]) =>
  found('session-affinity-conflict', [routeWith(rule), ...others], experimental);

describe('session-affinity-conflict', () => {
  test.each<[object, unknown]>([
    [
      { backendRefs: [{ name: 'cart', port: 8080 }] },
      serviceWith({ sessionAffinity: 'ClientIP', ports: [{ port: 8080 }] }),
    ],
    [
      { sessionPersistence, backendRefs: [{ name: 'cart', port: 8080 }] },
      serviceWith({ sessionAffinity: 'None', ports: [{ port: 8080 }] }),
    ],
    [{ sessionPersistence, backendRefs: [{ name: 'cart', port: 8080 }] }, serviceWith({ ports: [{ port: 8080 }] })],
    // Another rule reports that the port does not exist.
    [
      { sessionPersistence, backendRefs: [{ name: 'cart', port: 81 }] },
      serviceWith({ sessionAffinity: 'ClientIP', ports: [{ port: 8080 }] }),
    ],
    [{ sessionPersistence, backendRefs: [{ ...imported, name: 'cart', port: 8080 }] }, serviceImport('Headless')],
  ])('%j is fine', (rule, service) => {
    expect(findings(rule, service)).toEqual([]);
  });

  test.each<[string, object, unknown]>([
    ['Service', { name: 'cart', port: 8080 }, serviceWith({ sessionAffinity: 'ClientIP', ports: [{ port: 8080 }] })],
    ['ServiceImport', { ...imported, name: 'cart', port: 8080 }, serviceImport('ClusterSetIP')],
  ])('a %s with session affinity', (kind, backendRef, service) => {
    expect(findings({ sessionPersistence, backendRefs: [{ name: 'gone', port: 1 }, backendRef] }, service)).toEqual([
      [
        'spec.rules[0].sessionPersistence',
        `sessionPersistence conflicts with sessionAffinity: ClientIP of ${kind} "shop/cart", so all requests that match this rule are answered with 500. Set sessionAffinity: None, or remove sessionPersistence.`,
        'Accepted UnsupportedValue rule',
      ],
    ]);
  });

  test('a policy does not apply to a target with session affinity', () => {
    const service = serviceWith({ sessionAffinity: 'ClientIP', ports: [{ port: 8080 }] });
    const judged = (spec: object) =>
      found('session-affinity-conflict', [trafficPolicy('p', spec), service], experimental);
    expect(judged({ retryConstraint: {} })).toEqual([]);
    const targetRefs = ['stock', 'cart'].map((name) => ({ group: '', kind: 'Service', name }));
    expect(judged({ targetRefs, sessionPersistence })).toEqual([
      [
        'spec.targetRefs[1]',
        'sessionPersistence conflicts with sessionAffinity: ClientIP of Service "shop/cart", so the policy does not apply to this target. Set sessionAffinity: None, or remove sessionPersistence.',
        'Accepted Invalid target',
      ],
    ]);
  });
});
