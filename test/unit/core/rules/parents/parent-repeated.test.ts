import { describe, expect, test } from '@jest/globals';
import { httpRoute, objectOf, refusals, refusingBundles, remarks } from '../../../../support/rules.ts';

const gateway = { name: 'front' };
const message =
  'Duplicate parentRef: parentRefs[0] also names Gateway "shop/front" after defaulting. Remove one of them, or use distinct sectionNames.';

describe('parent-repeated', () => {
  test.each<[string, readonly unknown[]]>([
    ['one parent', [gateway]],
    ['different names', [gateway, { name: 'back' }]],
    ['different namespaces', [gateway, { ...gateway, namespace: 'other' }]],
    ['different kinds', [gateway, { ...gateway, kind: 'ListenerSet' }]],
    ['different groups', [gateway, { ...gateway, group: '' }]],
    [
      'different sections',
      [
        { ...gateway, sectionName: 'a' },
        { ...gateway, sectionName: 'b', port: 80 },
      ],
    ],
    [
      'different ports',
      [
        { ...gateway, port: 80 },
        { ...gateway, port: 81 },
      ],
    ],
    [
      'one section on different ports',
      [
        { ...gateway, sectionName: 'a', port: 80 },
        { ...gateway, sectionName: 'a', port: 81 },
      ],
    ],
  ])('%s: fine', (_, parentRefs) => {
    expect(remarks('parent-repeated', httpRoute({ parentRefs }))).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['the same', gateway],
    ['with its own namespace written out', { ...gateway, namespace: 'shop' }],
    ['with an empty namespace', { ...gateway, namespace: '' }],
    [
      'with all defaults written out',
      { ...gateway, namespace: 'shop', group: 'gateway.networking.k8s.io', kind: 'Gateway', sectionName: '' },
    ],
    ['with a section that the other covers', { ...gateway, namespace: 'shop', sectionName: 'a' }],
    ['with a port that the other covers', { ...gateway, namespace: 'shop', port: 80 }],
  ])('%s', (_, second) => {
    const route = httpRoute({ parentRefs: [gateway, { name: 'back' }, second] });
    expect(remarks('parent-repeated', route)).toEqual([['spec.parentRefs[2]', message]]);
  });

  test('a section twice', () => {
    const ref = { ...gateway, sectionName: 'a' };
    expect(
      remarks('parent-repeated', httpRoute({ parentRefs: [ref, { ...ref, namespace: 'shop' }] })).map(([path]) => path),
    ).toEqual(['spec.parentRefs[1]']);
  });
});

describe('bundles on parents that are named twice', () => {
  const routeWith = (...refs: readonly object[]): unknown =>
    objectOf('HTTPRoute', 'v1', { parentRefs: refs.map((ref) => ({ name: 'front', ...ref })) });
  const all = ['standard 1.0–1.7', 'experimental 1.0–1.7'];

  test.each<[readonly object[], readonly string[]]>([
    [[{}, {}], all],
    [[{ sectionName: 'a' }, {}], all],
    [[{ sectionName: 'a' }, { sectionName: 'a' }], all],
    [[{}, { group: 'gateway.networking.k8s.io', kind: 'Gateway' }], all],
    [[{ sectionName: 'a', port: 1 }, { sectionName: 'a' }], all],
    [[{ sectionName: 'a', port: 1 }, { sectionName: 'b' }], ['experimental 1.0–1.7']],
    [[{ port: 1 }, { port: 2 }], ['standard 1.0–1.7']],
    [
      [
        { sectionName: 'a', port: 1 },
        { sectionName: 'a', port: 2 },
      ],
      ['standard 1.0–1.7'],
    ],
    [[{ sectionName: 'a' }, { sectionName: 'b' }], []],
    [[{}, { namespace: 'shop' }], []],
    [[{}, { kind: 'ListenerSet' }], []],
  ])('%j', (refs, bundles) => {
    expect(refusingBundles('parent-repeated', routeWith(...refs))).toEqual(bundles);
  });

  test('say what tells parents apart', () => {
    const route = routeWith({}, { namespace: 'x' }, {});
    expect(refusals('parent-repeated', route)).toEqual([
      [
        'spec.parentRefs[2]',
        'Duplicate parentRef: parentRefs[0] also names Gateway "front". Remove one of them, or use distinct values of sectionName or port.',
      ],
    ]);
    expect(refusals('parent-repeated', route, { minor: '1.7', channel: 'standard' })).toEqual([
      [
        'spec.parentRefs[2]',
        'Duplicate parentRef: parentRefs[0] also names Gateway "front". Remove one of them, or use distinct values of sectionName.',
      ],
    ]);
  });

  test.each(['TCPRoute', 'UDPRoute', 'TLSRoute', 'GRPCRoute'])('look at %s, too', (kind) => {
    expect(
      refusals('parent-repeated', objectOf(kind, 'v1', { parentRefs: [{ name: 'a' }, { name: 'a' }] })),
    ).toHaveLength(1);
  });
});
