import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const asked = (...kinds: readonly object[]) =>
  found('listener-route-kinds-invalid', [
    gatewayWith({ name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { kinds } }),
    ourClass,
  ]);

describe('listener-route-kinds-invalid', () => {
  test.each<readonly object[]>([
    [],
    [{ kind: 'HTTPRoute' }],
    [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }],
  ])('%j is fine', (...kinds) => {
    expect(asked(...kinds)).toEqual([]);
  });

  test('names the kinds that do not fit', () => {
    expect(asked({ kind: 'HTTPRoute' }, { kind: 'TCPRoute' }, { group: 'example.net', kind: 'HTTPRoute' })).toEqual([
      [
        'spec.listeners[0].allowedRoutes.kinds',
        'Unsupported route kind gateway.networking.k8s.io/TCPRoute, example.net/HTTPRoute for protocol HTTP. Use only HTTPRoute, GRPCRoute, or remove kinds.',
        'ResolvedRefs InvalidRouteKinds listener',
      ],
    ]);
  });

  test('is silent where the protocol itself is not served', () => {
    expect(
      found('listener-route-kinds-invalid', [
        gatewayWith({ name: 'raw', port: 80, protocol: 'TCP', allowedRoutes: { kinds: [{ kind: 'TCPRoute' }] } }),
        ourClass,
      ]),
    ).toEqual([]);
  });
});
