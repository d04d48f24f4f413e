import { describe, expect, test } from '@jest/globals';
import { configuration } from '../../../../src/core/routing/emit.ts';
import { gatewaysOfPolicy } from '../../../../src/core/rules/engine/backend-users.ts';
import { statuses } from '../../../../src/core/status/emit.ts';
import { authorityFacts, backendTlsPolicy } from '../../../support/backend-tls.ts';
import { evaluate, ourClass, serviceWith } from '../../../support/evaluation.ts';

const gatewayApi = 'gateway.networking.k8s.io/v1';

/** So many Gateways, the first of them the youngest, with one route to a Service that a policy secures. */
function worldWith(gateways: number) {
  const names = Array.from({ length: gateways }, (_, number) => `gw-${String(number).padStart(2, '0')}`);
  const { kernel } = evaluate(
    [
      ourClass,
      serviceWith({ ports: [{ port: 443 }] }),
      backendTlsPolicy('secure'),
      backendTlsPolicy('secure-too'),
      ...names.map((name, number) => ({
        apiVersion: gatewayApi,
        kind: 'Gateway',
        metadata: { name, namespace: 'shop', creationTimestamp: `2026-01-01T00:00:${String(59 - number)}Z` },
        spec: { gatewayClassName: 'sallyport', listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] },
      })),
      {
        apiVersion: gatewayApi,
        kind: 'HTTPRoute',
        metadata: { name: 'cart', namespace: 'shop' },
        spec: { parentRefs: names.map((name) => ({ name })), rules: [{ backendRefs: [{ name: 'cart', port: 443 }] }] },
      },
    ],
    authorityFacts,
  );
  const status = kernel.emitted(statuses).get('BackendTLSPolicy/shop/secure');
  const ancestors = status !== undefined && 'ancestors' in status ? status.ancestors : [];
  return {
    kernel,
    ancestors,
    accepted: ancestors.map(({ ancestorRef, conditions }) => [
      ancestorRef.name,
      ...conditions
        .filter(({ type }) => type === 'Accepted')
        .map(({ status: is, reason, message }) => `${is} ${reason} ${message}`.trim()),
    ]),
    endpoints: kernel.emitted(configuration).get('endpoints/shop/cart/443'),
  };
}

describe('a BackendTLSPolicy that more Gateways lead to than its status has room for', () => {
  test('is in force for those that fit', () => {
    const { accepted, endpoints } = worldWith(16);
    expect(new Set(accepted.map(([, text]) => text))).toEqual(new Set(['True Accepted']));
    expect(accepted.map(([name]) => name)).toEqual(
      Array.from({ length: 16 }, (_, number) => `gw-${String(15 - number).padStart(2, '0')}`),
    );
    expect(endpoints).not.toHaveProperty('withheld');
  });

  test('cannot be used by the youngest, and says so to all', () => {
    const { accepted, ancestors, endpoints } = worldWith(18);
    expect(accepted.slice(0, 2)).toEqual([
      [
        'gw-17',
        'True Accepted The status lists at most 16 Gateways. Requests to the Services get a 500 from these Gateways: shop/gw-01, shop/gw-00.',
      ],
      ['gw-16', accepted[0]?.[1]],
    ]);
    expect(accepted.slice(16)).toEqual([
      ['gw-01', expect.stringContaining('False StatusFull')],
      ['gw-00', expect.stringContaining('False StatusFull')],
    ]);
    expect(ancestors[16]?.conditions).toBe(ancestors[17]?.conditions);
    expect(endpoints).toMatchObject({
      tls: { serverName: 'cart.example.com' },
      withheld: { from: ['shop/gw-01', 'shop/gw-00'], failure: expect.stringContaining('no room') },
    });
  });

  test('shares the list of Gateways with other policies for the Service', () => {
    const { read } = worldWith(18).kernel;
    const gateways = read.query(gatewaysOfPolicy, 'BackendTLSPolicy', 'shop', 'secure');
    expect(gateways).toHaveLength(18);
    expect(read.query(gatewaysOfPolicy, 'BackendTLSPolicy', 'shop', 'secure-too')).toBe(gateways);
  });
});
