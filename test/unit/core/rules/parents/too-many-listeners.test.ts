import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../../support/rules.ts';

const owner = (name: string, count: number) => ({
  ...(gatewayWith(
    ...Array.from({ length: count }, (_, index) => ({ name: `l${index}`, port: 80 + index, protocol: 'HTTP' })),
  ) as object),
  metadata: { namespace: 'shop', name },
});
const gateways = [owner('front', 64), owner('back', 64), owner('side', 3), ourClass];
const asked = (...parentRefs: readonly object[]) =>
  found('too-many-listeners', [httpRoute({ parentRefs }), ...gateways]);

describe('too-many-listeners', () => {
  test.each<[string, readonly object[]]>([
    ['one Gateway', [{ name: 'front' }]],
    ['two Gateways of the maximum size', [{ name: 'front' }, { name: 'back' }]],
    ['a section of each', [{ name: 'front' }, { name: 'side' }, { name: 'back', sectionName: 'l0' }]],
    ['a port of each', [{ name: 'front' }, { name: 'side' }, { name: 'back', port: 80 }]],
  ])('%s: within the limit', (_, parentRefs) => {
    expect(asked(...parentRefs)).toEqual([]);
  });

  test('names the listeners, the limit and the fix', () => {
    expect(asked({ name: 'front' }, { name: 'back' }, { name: 'side' })).toEqual([
      [
        'spec.parentRefs[2]',
        'Too many listeners: a route can attach to 128, earlier parentRefs attach to 128, and Gateway "shop/side" has 3 more. Set sectionName or port, or use another route.',
        'Accepted UnsupportedValue parentRef',
      ],
    ]);
  });

  test('the order of the parentRefs decides', () => {
    expect(asked({ name: 'side' }, { name: 'front' }, { name: 'back' }).map(([path]) => path)).toEqual([
      'spec.parentRefs[2]',
    ]);
  });
});
