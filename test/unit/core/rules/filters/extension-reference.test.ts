import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('extension-reference', () => {
  test.each<[object]>([
    [{ filters: [{ type: 'ExtensionRef', extensionRef: { group: 'example.com', kind: 'RateLimit', name: 'slow' } }] }],
  ])('%j is fine', (value) => {
    expect(remarks('extension-reference', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { filters: [{ type: 'ExtensionRef', extensionRef: { group: '', kind: 'ConfigMap', name: 'filter' } }] },
      [
        'spec.rules[0].filters[0].extensionRef.group',
        `Invalid ExtensionRef: core kind ConfigMap is not a filter of an implementation. Use the group of a filter that your implementation defines instead of "", or use a filter of the Gateway API.`,
      ],
    ],
    [
      {
        filters: [
          {
            type: 'ExtensionRef',
            extensionRef: { group: 'gateway.networking.k8s.io', kind: 'HTTPRouteFilter', name: 'filter' },
          },
        ],
      },
      [
        'spec.rules[0].filters[0].extensionRef.group',
        `Invalid ExtensionRef: HTTPRouteFilter of the Gateway API is not a filter of an implementation. Use the group of a filter that your implementation defines instead of "gateway.networking.k8s.io", or use a filter of the Gateway API.`,
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('extension-reference', object(value))).toEqual(expected);
  });
});
