import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (spec: object): unknown => soundRoute({}, spec);

describe('parent-group', () => {
  test.each<[object]>([
    [{ parentRefs: [ { group: '', kind: 'Service', name: 'cart', port: 80 } ] }],
    [{ parentRefs: [ { name: 'front' }, { kind: 'ListenerSet', name: 'extra' } ] }],
    [{ parentRefs: [ { group: 'example.com', kind: 'Mesh', name: 'mesh' } ] }],
  ])('%j is fine', (value) => {
    expect(remarks('parent-group', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ parentRefs: [ { kind: 'Service', name: 'cart' } ] }, [ 'spec.parentRefs[0].group', 'There is no kind Service in the group "gateway.networking.k8s.io", so this parentRef names nothing. Write group: "" (left out, the group is that of the Gateway API).' ]],
    [{ parentRefs: [ { group: 'example.com', kind: 'Gateway', name: 'front' } ] }, [ 'spec.parentRefs[0].group', 'There is no kind Gateway in the group "example.com", so this parentRef names nothing. Leave group out, or write group: gateway.networking.k8s.io.' ]],
    [{ parentRefs: [ { group: '', kind: 'ListenerSet', name: 'extra' } ] }, [ 'spec.parentRefs[0].group', 'There is no kind ListenerSet in the group "", so this parentRef names nothing. Leave group out, or write group: gateway.networking.k8s.io.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('parent-group', object(value))).toEqual(expected);
  });
});
