import { describe, expect, test } from '@jest/globals';
import { withheldCell, type WithheldFacts } from '../../../../src/core/graph/inputs.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import { statuses } from '../../../../src/core/status/emit.ts';
import type { GatewayStatus } from '../../../../src/core/status/gateway.ts';
import type { RouteStatus } from '../../../../src/core/status/route.ts';
import { evaluate, ourClass } from '../../../support/evaluation.ts';
import { gatewayWith } from '../../../support/rules.ts';

const facts: WithheldFacts = { bytes: 100_000, limit: 32 * 2 ** 20 };

function route(name: string): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { namespace: 'shop', name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      parentRefs: [{ name: 'front' }],
      rules: [{ matches: [{ path: { value: `/${name}` } }], backendRefs: [{ name: 'cart', port: 80 }] }],
    },
  };
}

const cart = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name: 'cart' },
  spec: { ports: [{ port: 80 }] },
};
const front = gatewayWith({ name: 'http', port: 80, protocol: 'HTTP' });

function conditionsWith(withheld: Readonly<Record<string, WithheldFacts>> | undefined) {
  const { kernel } = evaluate([route('big'), route('small'), cart, front, ourClass]);
  if (withheld !== undefined) kernel.apply([write(withheldCell, ['shop', 'front', 'shop'], withheld)]);
  return (name: string): readonly string[] => {
    const status = kernel.emitted(statuses).get(`HTTPRoute/shop/${name}`) as RouteStatus | undefined;
    return (status?.parents[0]?.conditions ?? []).map(
      ({ type, status: value, reason, message }) => `${type} ${value} ${reason}: ${message}`,
    );
  };
}

describe('what does not fit into the configuration of a Gateway', () => {
  test('nothing: accepted', () => {
    expect(conditionsWith(undefined)('big')).toEqual(['Accepted True Accepted: ', 'ResolvedRefs True ResolvedRefs: ']);
  });

  test('a route: it is not accepted, and others are', () => {
    const conditionsOf = conditionsWith({ 'route/HTTPRoute/shop/big': facts });
    expect(conditionsOf('big')).toEqual([
      'Accepted False ConfigurationTooLarge: The route is not served by Gateway "shop/front", because it needs 98 KiB of configuration, and the older routes of namespace "shop" use its share. All routes of the Gateway together may have 32 MiB, in equal shares for namespaces. Use fewer rules, hostnames or parentRefs, remove other routes of the namespace, or attach the route to another Gateway.',
      'ResolvedRefs True ResolvedRefs: ',
    ]);
    expect(conditionsOf('small')).toEqual(['Accepted True Accepted: ', 'ResolvedRefs True ResolvedRefs: ']);
  });

  test('a route: it does not count as attached', () => {
    const { kernel } = evaluate([route('big'), route('small'), cart, front, ourClass]);
    const attachedRoutes = (): unknown =>
      (kernel.emitted(statuses).get('Gateway/shop/front') as GatewayStatus | undefined)?.listeners[0]?.attachedRoutes;
    expect(attachedRoutes()).toBe(2);
    kernel.apply([write(withheldCell, ['shop', 'front', 'shop'], { 'route/HTTPRoute/shop/big': facts })]);
    expect(attachedRoutes()).toBe(1);
    kernel.apply([write(withheldCell, ['shop', 'front', 'shop'], undefined)]);
    expect(attachedRoutes()).toBe(2);
  });

  test('endpoints: the references of the routes that use them are not resolved', () => {
    expect(conditionsWith({ 'endpoints/shop/cart/80': facts })('small')).toEqual([
      'Accepted True Accepted: ',
      'ResolvedRefs False ConfigurationTooLarge: Requests to Service "shop/cart" fail at Gateway "shop/front", because the endpoints of port 80 need 98 KiB of memory in its data plane, and others of the namespace use its share. All endpoints of the Gateway together may have 32 MiB, in equal shares for namespaces. Use fewer backends, ports or CA certificates, or another Gateway.',
    ]);
  });
});
