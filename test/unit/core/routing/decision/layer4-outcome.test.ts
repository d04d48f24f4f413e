import { describe, expect, test } from '@jest/globals';
import type { ConfigResource, Layer4RouteConfig } from '../../../../../src/core/routing/config.ts';
import {
  isForwarded,
  layer4OutcomesOf,
  type ArrivingConnection,
} from '../../../../../src/core/routing/decision/layer4-outcome.ts';
import { endpointsConfig, listenerConfig } from '../../../../support/config.ts';

const web = listenerConfig('web', {
  port: 443,
  protocol: 'HTTPS',
  hostname: 'web.example.com',
  certificates: ['shop/good'],
});
const secure = listenerConfig('secure', {
  port: 443,
  protocol: 'TLS',
  tlsMode: 'Passthrough',
  hostname: '*.example.com',
});
const dns = listenerConfig('dns', { port: 53, protocol: 'UDP' });
const dnsTcp = listenerConfig('dns-tcp', { port: 53, protocol: 'TCP' });

function routeAt(listener: ConfigResource, parts: Partial<Layer4RouteConfig> = {}): Layer4RouteConfig {
  return {
    kind: 'layer4Route',
    key: 'route/TLSRoute/shop/cart',
    route: 'shop/cart',
    routeKind: 'TLSRoute',
    created: '2026-01-01T00:00:00Z',
    attachments: [{ listener: listener.key, hostnames: [''] }],
    backends: [{ weight: 1, target: { type: 'endpoints', key: 'endpoints/shop/cart/80' } }],
    generation: 1,
    ...parts,
  };
}

function decisions(resources: readonly ConfigResource[], connection: Partial<ArrivingConnection>): readonly unknown[] {
  return layer4OutcomesOf(resources, { protocol: 'TLS', port: 443, serverName: 'a.example.com', ...connection }).map(
    ({ listener, decision }) => [listener?.name, decision],
  );
}

describe('layer4OutcomesOf', () => {
  test('the server name chooses between HTTPS and TLS listeners of one port', () => {
    const route = routeAt(secure);
    const all = [web, secure, route, endpointsConfig('cart', 8080)];
    expect(decisions(all, {})).toEqual([
      [
        'secure',
        {
          type: 'forward',
          route,
          shares: [expect.objectContaining({ weight: 1, total: 1, result: expect.objectContaining({ type: 'send' }) })],
        },
      ],
    ]);
    expect(decisions(all, { serverName: 'web.example.com' })).toEqual([['web', { type: 'requests' }]]);
    expect(decisions(all, { serverName: 'a.example.net' })).toEqual([
      [undefined, { type: 'close', reason: 'no-listener' }],
    ]);
    expect(decisions(all, { serverName: '' })).toEqual([[undefined, { type: 'close', reason: 'no-listener' }]]);
  });

  test('TCP and UDP of one port are two listeners', () => {
    const route = routeAt(dns, { routeKind: 'UDPRoute' });
    expect(decisions([dns, dnsTcp, route], { protocol: 'UDP', port: 53, serverName: '' })).toMatchObject([
      ['dns', { type: 'forward' }],
    ]);
    expect(decisions([dns, dnsTcp, route], { protocol: 'TCP', port: 53, serverName: '' })).toEqual([
      ['dns-tcp', { type: 'close', reason: 'no-route' }],
    ]);
  });

  test('each Gateway has an outcome of its own, in the order of their names', () => {
    const other = { ...dns, key: 'listener/infra/a/dns', gateway: 'infra/a' };
    expect(
      layer4OutcomesOf([dns, other, web], { protocol: 'UDP', port: 53, serverName: '' }).map(({ gateway }) => gateway),
    ).toEqual(['infra/a', 'infra/gateway']);
  });

  test.each<[string, readonly Layer4RouteConfig['backends'][number][], readonly ConfigResource[], readonly object[]]>([
    [
      'an invalid backend',
      [{ weight: 1, target: { type: 'invalid', reason: 'BackendNotFound' } }],
      [],
      [{ type: 'close', reason: 'invalid-backend', detail: 'BackendNotFound' }],
    ],
    [
      'endpoints that are missing',
      [{ weight: 1, target: { type: 'endpoints', key: 'endpoints/shop/cart/80' } }],
      [endpointsConfig('cart')],
      [{ type: 'close', reason: 'no-endpoints', detail: undefined }],
    ],
    [
      'endpoints that must not be used',
      [{ weight: 1, target: { type: 'endpoints', key: 'endpoints/shop/cart/80' } }],
      [{ ...endpointsConfig('cart', 1), failure: 'no authority' }],
      [{ type: 'close', reason: 'invalid-backend', detail: 'no authority' }],
    ],
    [
      'weights of zero',
      [{ weight: 0, target: { type: 'endpoints', key: 'endpoints/shop/cart/80' } }],
      [endpointsConfig('cart', 1)],
      [{ type: 'close', reason: 'no-backend', detail: undefined }],
    ],
  ])('closes the share of %s', (_, backends, others, results) => {
    const outcomes = layer4OutcomesOf([dnsTcp, routeAt(dnsTcp, { backends }), ...others], {
      protocol: 'TCP',
      port: 53,
      serverName: '',
    });
    expect(outcomes.map(isForwarded)).toEqual([false]);
    expect(
      outcomes.flatMap(({ decision }) =>
        decision.type === 'forward' ? decision.shares.map(({ result }) => result) : [],
      ),
    ).toEqual(results);
  });

  test('a route that cannot work keeps its place, and the next ones are candidates', () => {
    const failing = routeAt(dnsTcp, { failure: 'no weight', created: '2025-01-01T00:00:00Z' });
    const next = routeAt(dnsTcp, { key: 'route/TLSRoute/shop/next', route: 'shop/next' });
    const [outcome] = layer4OutcomesOf([dnsTcp, next, failing], { protocol: 'TCP', port: 53, serverName: '' });
    expect(outcome?.decision).toEqual({ type: 'close', reason: 'rule-failure', route: failing });
    expect(outcome?.candidates.map(({ route }) => route.route)).toEqual(['shop/cart', 'shop/next']);
  });
});
