import { expect, test } from '@jest/globals';
import { selectorServices } from '../../../../src/core/routing/selector-services.ts';
import { evaluate, ourClass } from '../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../support/rules.ts';

const group = 'gateway.networking.x-k8s.io';
const spec = { type: 'EndpointSelector', endpointSelector: { matchLabels: { app: 'cart' } }, port: { number: 8080 } };

function backend(changes: object): unknown {
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: 'XBackend',
    metadata: { namespace: 'shop', name: 'cart' },
    spec: { ...spec, ...changes },
  };
}

const reference = { group, kind: 'XBackend', name: 'cart' };
const gateway = gatewayWith({ name: 'web', port: 80, protocol: 'HTTP' });
const forwarding = (name: string): unknown =>
  httpRoute({ parentRefs: [{ name: 'front' }], rules: [{ backendRefs: [{ ...reference, name }] }] });
const weightless = httpRoute({
  parentRefs: [{ name: 'front' }],
  rules: [{ backendRefs: [{ ...reference, weight: 0 }] }],
});
const mirroring = httpRoute({
  parentRefs: [{ name: 'front' }],
  rules: [{ filters: [{ type: 'RequestMirror', requestMirror: { backendRef: reference } }] }],
});
const authorizing = gatewayWith({
  name: 'web',
  port: 80,
  protocol: 'HTTP',
  filters: { requests: [{ type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', backendRef: reference } }] },
});
const detached = httpRoute({
  parentRefs: [{ name: 'absent' }],
  rules: [{ backendRefs: [reference] }],
});

function services(...objects: readonly unknown[]): readonly unknown[] {
  const facts = { bundle: { minor: '1.7', channel: 'experimental' } } as const;
  return [...evaluate([ourClass, ...objects], facts).kernel.emitted(selectorServices)];
}

test.each([
  ['a backendRef', [gateway, forwarding('cart')]],
  ['a backendRef without weight', [gateway, weightless]],
  ['a mirror', [gateway, mirroring]],
  ['a filter of a listener', [authorizing]],
])('an XBackend that %s uses needs a Service', (_case, users) => {
  expect(services(backend({}), ...users)).toEqual([['shop/cart', { selector: { app: 'cart' }, port: 8080 }]]);
});

test.each([
  ['nothing uses', {}, [gateway, forwarding('another')]],
  ['only a route without a listener uses', {}, [gateway, detached]],
  ['is outside the cluster', { type: 'ExternalHostname' }, [gateway, forwarding('cart')]],
  ['selects no pods', { endpointSelector: { matchLabels: {} } }, [gateway, forwarding('cart')]],
  ['has no selector', { endpointSelector: undefined }, [gateway, forwarding('cart')]],
  ['has no port', { port: {} }, [gateway, forwarding('cart')]],
])('an XBackend that %s needs none', (_case, changes, users) => {
  expect(services(backend(changes), ...users)).toEqual([]);
});
