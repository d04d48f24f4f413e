import { describe, expect, test } from '@jest/globals';
import { servicePortMissing } from '../../../../../src/core/rules/backends/service-port-missing.ts';
import {
  consequences,
  gatewayWith,
  judge,
  objectOf,
  refusals,
  refusingBundles,
  routeWith,
} from '../../../../support/rules.ts';

const message =
  'Port is required in a reference to Service "cart". Set the port of the Service (not its targetPort), for example port: 80.';
const cart = { name: 'cart' };
const mirror = { type: 'RequestMirror', requestMirror: { backendRef: cart } };
const auth = { type: 'ExternalAuth', externalAuth: { backendRef: cart } };

describe('service-port-missing', () => {
  test.each<[string, unknown]>([
    ['a port', { backendRefs: [{ name: 'cart', port: 80 }] }],
    ['another kind', { backendRefs: [{ name: 'cart', kind: 'ServiceImport' }] }],
    ['another group', { backendRefs: [{ name: 'cart', group: 'multicluster.x-k8s.io' }] }],
    ['a port that cannot be read', { backendRefs: [{ name: 'cart', port: '80' }] }],
    ['no backends', {}],
  ])('%s: fine', (_, rule) => {
    expect(judge(servicePortMissing, routeWith(rule))).toEqual([]);
  });

  test.each<[string, unknown, string, string]>([
    ['a backend', { backendRefs: [{ name: 'other', port: 80 }, cart] }, 'backendRefs[1].port', 'backendRef'],
    [
      'defaults written out',
      { backendRefs: [{ ...cart, group: '', kind: 'Service' }] },
      'backendRefs[0].port',
      'backendRef',
    ],
    ['a mirror', { filters: [mirror] }, 'filters[0].requestMirror.backendRef.port', 'mirror'],
    ['an authorization server', { filters: [auth] }, 'filters[0].externalAuth.backendRef.port', 'rule'],
    [
      'a mirror of a backend',
      { backendRefs: [{ name: 'other', port: 80, filters: [mirror] }] },
      'backendRefs[0].filters[0].requestMirror.backendRef.port',
      'mirror',
    ],
  ])('%s', (_, rule, at, scope) => {
    const route = routeWith(rule);
    expect(judge(servicePortMissing, route)).toEqual([[`spec.rules[0].${at}`, message]]);
    expect(consequences(servicePortMissing, route)).toEqual([`ResolvedRefs BackendNotFound ${scope}`]);
  });

  test('a listener', () => {
    const gateway = gatewayWith({ name: 'a', filters: { requests: [auth] } });
    expect(judge(servicePortMissing, gateway)).toEqual([
      ['spec.listeners[0].filters.requests[0].externalAuth.backendRef.port', message],
    ]);
    expect(consequences(servicePortMissing, gateway)).toEqual(['ResolvedRefs InvalidListenerFilterRef listenerFilter']);
  });
});

describe('bundles on Services without port', () => {
  test.each<[unknown, string, readonly string[]]>([
    [
      objectOf('TCPRoute', 'v1', { rules: [{ backendRefs: [{ name: 'a' }] }] }),
      'spec.rules[0].backendRefs[0].port',
      ['standard 1.6–1.7', 'experimental 1.6–1.7'],
    ],
    [
      objectOf('GRPCRoute', 'v1', { rules: [{ filters: [{ requestMirror: { backendRef: { name: 'a' } } }] }] }),
      'spec.rules[0].filters[0].requestMirror.backendRef.port',
      ['standard 1.1–1.7', 'experimental 1.1–1.7'],
    ],
    [
      objectOf('HTTPRoute', 'v1', { rules: [{ filters: [{ externalAuth: { backendRef: { name: 'a' } } }] }] }),
      'spec.rules[0].filters[0].externalAuth.backendRef.port',
      ['experimental 1.4–1.7'],
    ],
    [
      objectOf('XTelemetryPolicy', 'v1alpha1', { tracing: { provider: { backendRef: { name: 'a' } } } }),
      'spec.tracing.provider.backendRef.port',
      ['experimental 1.7–1.7'],
    ],
  ])('%j', (json, path, bundles) => {
    expect(refusals('service-port-missing', json).map(([at]) => at)).toEqual([path]);
    expect(refusingBundles('service-port-missing', json)).toEqual(bundles);
  });

  test.each([
    { name: 'a', port: 1 },
    { name: 'a', kind: 'Backend' },
    { name: 'a', group: 'example.com' },
  ])('%j is fine', (backendRef) => {
    expect(
      refusals('service-port-missing', objectOf('TCPRoute', 'v1', { rules: [{ backendRefs: [backendRef] }] })),
    ).toEqual([]);
  });
});
