import { describe, expect, test } from '@jest/globals';
import { parentRepeated } from '../../../../src/core/rules/parent-repeated.ts';
import { consequences, httpRoute, judge } from '../../../support/rules.ts';

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
    expect(judge(parentRepeated, httpRoute({ parentRefs }))).toEqual([]);
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
    expect(judge(parentRepeated, route)).toEqual([['spec.parentRefs[2]', message]]);
    expect(consequences(parentRepeated, route)).toEqual(['none']);
  });

  test('a section twice', () => {
    const ref = { ...gateway, sectionName: 'a' };
    expect(judge(parentRepeated, httpRoute({ parentRefs: [ref, { ...ref, namespace: 'shop' }] })).map(([path]) => path)).toEqual(['spec.parentRefs[1]']);
  });
});
