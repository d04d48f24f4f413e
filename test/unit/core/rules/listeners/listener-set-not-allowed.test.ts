import { describe, expect, test } from '@jest/globals';
import { found, listenerSet, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const plain = gatewayWith({ name: 'web', port: 80, protocol: 'HTTP' }) as { readonly spec: object };
const gatewayAllowing = (namespaces: object) => ({
  ...plain,
  spec: { ...plain.spec, allowedListeners: { namespaces } },
});
const set = listenerSet({ parentRef: { name: 'front', namespace: 'shop' } }, 'garden');
const judged = (...objects: readonly unknown[]) => found('listener-set-not-allowed', [set, ourClass, ...objects]);
const refused = [
  [
    'spec.parentRef',
    'Gateway "shop/front" does not allow ListenerSets from namespace "garden", so these listeners are not served. The owner of the Gateway can allow them in spec.allowedListeners.namespaces (from: Same, All or Selector). By default, none are allowed.',
    'Accepted NotAllowed object',
  ],
];

describe('listener-set-not-allowed', () => {
  test.each<[string, object]>([
    ['says nothing', plain],
    ['says None', gatewayAllowing({ from: 'None' })],
    ['says Same', gatewayAllowing({ from: 'Same' })],
    [
      'has a selector that does not match',
      gatewayAllowing({ from: 'Selector', selector: { matchLabels: { team: 'x' } } }),
    ],
    ['has no selector', gatewayAllowing({ from: 'Selector' })],
    ['has a word that is unknown', gatewayAllowing({ from: 'Everyone' })],
  ])('where the Gateway %s', (_, gateway) => {
    expect(judged(gateway)).toEqual(refused);
  });

  test.each<[string, object]>([
    ['All', { from: 'All' }],
    [
      'a selector that matches',
      { from: 'Selector', selector: { matchLabels: { 'kubernetes.io/metadata.name': 'garden' } } },
    ],
  ])('is silent for %s', (_, namespaces) => {
    expect(judged(gatewayAllowing(namespaces))).toEqual([]);
  });

  test('is silent for Same in one namespace', () => {
    expect(
      found('listener-set-not-allowed', [
        listenerSet({ parentRef: { name: 'front' } }),
        ourClass,
        gatewayAllowing({ from: 'Same' }),
      ]),
    ).toEqual([]);
  });

  test('leaves Gateways of others to them', () => {
    expect(found('listener-set-not-allowed', [set, plain])).toEqual([]);
  });
});
