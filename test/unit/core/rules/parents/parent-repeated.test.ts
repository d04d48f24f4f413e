import { describe, expect, test } from '@jest/globals';
import { httpRoute, objectOf, refusals, refusingBundles, remarks } from '../../../../support/rules.ts';

const gateway = { name: 'front' };
const message = 'This parentRef names Gateway shop/front like parentRefs[0] does, once defaults are filled in. Remove one of them, or give each a sectionName of its own.';

describe('parent-repeated', () => {
  test.each<[string, readonly unknown[]]>([
    ['one parent', [gateway]],
    ['different names', [gateway, { name: 'back' }]],
    ['different namespaces', [gateway, { ...gateway, namespace: 'other' }]],
    ['different kinds', [gateway, { ...gateway, kind: 'ListenerSet' }]],
    ['different groups', [gateway, { ...gateway, group: '' }]],
    ['different sections', [{ ...gateway, sectionName: 'a' }, { ...gateway, sectionName: 'b', port: 80 }]],
    ['different ports', [{ ...gateway, port: 80 }, { ...gateway, port: 81 }]],
    ['one section on different ports', [{ ...gateway, sectionName: 'a', port: 80 }, { ...gateway, sectionName: 'a', port: 81 }]],
  ])('%s: fine', (_, parentRefs) => {
    expect(remarks('parent-repeated', httpRoute({ parentRefs }))).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['the same', gateway],
    ['with its own namespace written out', { ...gateway, namespace: 'shop' }],
    ['with an empty namespace', { ...gateway, namespace: '' }],
    ['with all defaults written out', { ...gateway, namespace: 'shop', group: 'gateway.networking.k8s.io', kind: 'Gateway', sectionName: '' }],
    ['with a section that the other covers', { ...gateway, namespace: 'shop', sectionName: 'a' }],
    ['with a port that the other covers', { ...gateway, namespace: 'shop', port: 80 }],
  ])('%s', (_, second) => {
    const route = httpRoute({ parentRefs: [gateway, { name: 'back' }, second] });
    expect(remarks('parent-repeated', route)).toEqual([['spec.parentRefs[2]', message]]);
  });

  test('a section twice', () => {
    const ref = { ...gateway, sectionName: 'a' };
    expect(remarks('parent-repeated', httpRoute({ parentRefs: [ref, { ...ref, namespace: 'shop' }] })).map(([path]) => path)).toEqual(['spec.parentRefs[1]']);
  });
});

describe('bundles on parents that are named twice', () => {
  const routeWith = (...refs: readonly object[]): unknown => objectOf('HTTPRoute', 'v1', { parentRefs: refs.map((ref) => ({ name: 'front', ...ref })) });
  const all = ['standard 1.0–1.7', 'experimental 1.0–1.7'];

  test.each<[readonly object[], readonly string[]]>([
    [[{}, {}], all], [[{ sectionName: 'a' }, {}], all], [[{ sectionName: 'a' }, { sectionName: 'a' }], all], [[{}, { group: 'gateway.networking.k8s.io', kind: 'Gateway' }], all],
    [[{ sectionName: 'a', port: 1 }, { sectionName: 'a' }], all], [[{ sectionName: 'a', port: 1 }, { sectionName: 'b' }], ['experimental 1.0–1.7']],
    [[{ port: 1 }, { port: 2 }], ['standard 1.0–1.7']], [[{ sectionName: 'a', port: 1 }, { sectionName: 'a', port: 2 }], ['standard 1.0–1.7']],
    [[{ sectionName: 'a' }, { sectionName: 'b' }], []], [[{}, { namespace: 'shop' }], []], [[{}, { kind: 'ListenerSet' }], []],
  ])('%j', (refs, bundles) => {
    expect(refusingBundles('parent-repeated', routeWith(...refs))).toEqual(bundles);
  });

  test('say what tells parents apart', () => {
    const route = routeWith({}, { namespace: 'x' }, {});
    expect(refusals('parent-repeated', route)).toEqual([['spec.parentRefs[2]', 'This parentRef names Gateway front like parentRefs[0] does. Remove one of them, or give each a sectionName or port of its own.']]);
    expect(refusals('parent-repeated', route, { minor: '1.7', channel: 'standard' })).toEqual([['spec.parentRefs[2]', 'This parentRef names Gateway front like parentRefs[0] does. Remove one of them, or give each a sectionName of its own.']]);
  });

  test.each(['TCPRoute', 'UDPRoute', 'TLSRoute', 'GRPCRoute'])('look at %s, too', (kind) => {
    expect(refusals('parent-repeated', objectOf(kind, 'v1', { parentRefs: [{ name: 'a' }, { name: 'a' }] }))).toHaveLength(1);
  });
});
