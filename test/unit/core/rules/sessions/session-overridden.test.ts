import { describe, expect, test } from '@jest/globals';
import { found, serviceWith } from '../../../../support/evaluation.ts';
import { grpcRouteWith, objectOf, routeWith } from '../../../../support/rules.ts';
import { trafficPolicy } from '../../../../support/traffic-policy.ts';

const experimental = { bundle: { minor: '1.7', channel: 'experimental' } } as const;
const sessionPersistence = { cookie: { name: 'cart' } };
const backendRefs = [{ name: 'cart', port: 8080 }];
const service = serviceWith({ ports: [{ port: 8080 }] });

const group = 'gateway.networking.x-k8s.io';
const xBackend = (spec: object): unknown =>
  objectOf('XBackend', 'v1alpha1', {
    type: 'EndpointSelector',
    endpointSelector: { matchLabels: { app: 'cart' } },
    port: { number: 8080 },
    ...spec,
  });

const findings = (route: unknown, ...others: readonly unknown[]) =>
  found('session-overridden', [route, service, ...others], experimental);

describe('session-overridden', () => {
  test.each<[string, object, unknown]>([
    ['only the policy', { backendRefs }, trafficPolicy('p', { sessionPersistence })],
    ['only the rule', { sessionPersistence, backendRefs }, trafficPolicy('p', { retryConstraint: {} })],
    [
      'a policy of another Service',
      { sessionPersistence, backendRefs },
      trafficPolicy('p', { sessionPersistence, targetRefs: [{ group: '', kind: 'Service', name: 'stock' }] }),
    ],
  ])('%s has sessions', (_case, rule, policy) => {
    expect(findings(routeWith(rule), policy)).toEqual([]);
  });

  test.each([
    ['HTTPRoute', routeWith],
    ['GRPCRoute', grpcRouteWith],
  ])('both have sessions: %s', (_kind, route) => {
    const policy = trafficPolicy('p', { sessionPersistence });
    expect(findings(route({ backendRefs }, { sessionPersistence, backendRefs }), policy)).toEqual([
      [
        'spec.rules[1].sessionPersistence',
        'sessionPersistence of the rule takes precedence over that of XBackendTrafficPolicy "shop/p" for Service "shop/cart". Remove one of them.',
        'none',
      ],
    ]);
  });

  test.each([
    ['HTTPRoute', routeWith],
    ['GRPCRoute', grpcRouteWith],
  ])('the rule and the XBackend: %s', (_kind, route) => {
    const refs = [{ group, kind: 'XBackend', name: 'cart' }];
    const both = route({ sessionPersistence, backendRefs: refs });
    expect(findings(both, xBackend({}))).toEqual([]);
    expect(findings(route({ backendRefs: refs }), xBackend({ sessionPersistence }))).toEqual([]);
    expect(findings(both, xBackend({ sessionPersistence }))).toEqual([
      [
        'spec.rules[0].sessionPersistence',
        'sessionPersistence of the rule takes precedence over that of XBackend "shop/cart". Remove one of them.',
        'none',
      ],
    ]);
  });
});
