import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (spec: object): unknown => soundRoute({}, spec);

describe('parent-group', () => {
  test.each<[object]>([
    [{ parentRefs: [{ group: '', kind: 'Service', name: 'cart', port: 80 }] }],
    [{ parentRefs: [{ name: 'front' }, { kind: 'ListenerSet', name: 'extra' }] }],
    [{ parentRefs: [{ group: 'example.com', kind: 'Mesh', name: 'mesh' }] }],
  ])('%j is fine', (value) => {
    expect(remarks('parent-group', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { parentRefs: [{ kind: 'Service', name: 'cart' }] },
      [
        'spec.parentRefs[0].group',
        'Kind Service not found in group "gateway.networking.k8s.io", so the parentRef has no effect. Use group: "" (the default is the group of the Gateway API).',
      ],
    ],
    [
      { parentRefs: [{ group: 'example.com', kind: 'Gateway', name: 'front' }] },
      [
        'spec.parentRefs[0].group',
        'Kind Gateway not found in group "example.com", so the parentRef has no effect. Remove group, or use group: gateway.networking.k8s.io.',
      ],
    ],
    [
      { parentRefs: [{ group: '', kind: 'ListenerSet', name: 'extra' }] },
      [
        'spec.parentRefs[0].group',
        'Kind ListenerSet not found in group "", so the parentRef has no effect. Remove group, or use group: gateway.networking.k8s.io.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('parent-group', object(value))).toEqual(expected);
  });
});
