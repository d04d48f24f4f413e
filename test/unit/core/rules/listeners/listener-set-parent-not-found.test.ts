import { describe, expect, test } from '@jest/globals';
import { found, listenerSet, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

describe('listener-set-parent-not-found', () => {
  test('names the Gateway in the namespace that is meant', () => {
    expect(found('listener-set-parent-not-found', [listenerSet({ parentRef: { name: 'front' } }), ourClass])).toEqual([
      [
        'spec.parentRef',
        'Gateway "shop/front" not found. Check its name and namespace, or create it. Until then, these listeners are not served.',
        'none',
      ],
    ]);
    expect(
      found('listener-set-parent-not-found', [
        listenerSet({ parentRef: { name: 'front', namespace: 'infra' } }),
        gatewayWith(),
      ]),
    ).toHaveLength(1);
  });

  test('is silent once the Gateway exists, whoever serves it', () => {
    expect(
      found('listener-set-parent-not-found', [listenerSet({ parentRef: { name: 'front' } }), gatewayWith()]),
    ).toEqual([]);
  });

  test('leaves parents of other kinds to others', () => {
    expect(
      found('listener-set-parent-not-found', [
        listenerSet({ parentRef: { group: 'example.com', kind: 'Door', name: 'front' } }),
      ]),
    ).toEqual([]);
  });
});
