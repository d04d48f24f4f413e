import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../../support/rules.ts';

const listener = (allowedRoutes: object, name = 'web', port = 80) => ({ name, port, protocol: 'HTTP', allowedRoutes });
const stranger = {
  ...(httpRoute({ parentRefs: [{ name: 'front', namespace: 'shop' }] }) as object),
  metadata: { name: 'cart', namespace: 'market' },
};
const market = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'market', labels: { exposure: 'public' } } };
const chosen = { namespaces: { from: 'Selector', selector: { matchLabels: { exposure: 'public' } } } };
const cure = 'The owner of the listener can allow them in allowedRoutes.namespaces (from: All or Selector).';

describe('not-allowed-by-listeners', () => {
  test('from another namespace', () => {
    expect(found('not-allowed-by-listeners', [stranger, gatewayWith(listener({})), ourClass])).toEqual([
      [
        'spec.parentRefs[0]',
        `Gateway "shop/front" does not allow routes from namespace "market". ${cure} Listeners: web.`,
        'Accepted NotAllowedByListeners parentRef',
      ],
    ]);
  });

  test('names five of many listeners', () => {
    const listeners = Array.from({ length: 64 }, (_, index) => listener({}, `l${index}`, index + 1));
    expect(found('not-allowed-by-listeners', [stranger, gatewayWith(...listeners), ourClass])[0]?.[1]).toBe(
      `Gateway "shop/front" does not allow routes from namespace "market". ${cure} Listeners: l0, l1, l2, l3, l4 and 59 more.`,
    );
  });

  test('names all listeners that were asked', () => {
    expect(
      found('not-allowed-by-listeners', [
        stranger,
        gatewayWith(listener({}), listener(chosen, 'admin', 81)),
        ourClass,
      ])[0]?.[1],
    ).toBe(`Gateway "shop/front" does not allow routes from namespace "market". ${cure} Listeners: web, admin.`);
  });

  test('of a kind that the listener does not carry', () => {
    const grpcOnly = listener({ namespaces: { from: 'All' }, kinds: [{ kind: 'GRPCRoute' }] });
    expect(found('not-allowed-by-listeners', [stranger, gatewayWith(grpcOnly), ourClass])[0]?.[1]).toBe(
      'Gateway "shop/front" does not allow routes of kind HTTPRoute. Add the kind to allowedRoutes.kinds of a listener, or attach to a listener with another protocol. Listeners: web.',
    );
  });

  test.each<[string, readonly unknown[]]>([
    ['all', [gatewayWith(listener({ namespaces: { from: 'All' } }))]],
    ['a selector that matches', [gatewayWith(listener(chosen)), market]],
    [
      'the label that every namespace has',
      [
        gatewayWith(
          listener({
            namespaces: { from: 'Selector', selector: { matchLabels: { 'kubernetes.io/metadata.name': 'market' } } },
          }),
        ),
      ],
    ],
    ['one listener of two', [gatewayWith(listener({}), listener({ namespaces: { from: 'All' } }, 'open', 81))]],
  ])('%s is fine', (_, others) => {
    expect(found('not-allowed-by-listeners', [stranger, ourClass, ...others])).toEqual([]);
  });

  test('an unknown value of from allows nobody', () => {
    expect(
      found('not-allowed-by-listeners', [
        stranger,
        gatewayWith(listener({ namespaces: { from: 'Everywhere' } })),
        ourClass,
      ]),
    ).toHaveLength(1);
  });
});
