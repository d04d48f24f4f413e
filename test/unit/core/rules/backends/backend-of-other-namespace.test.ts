import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('backend-of-other-namespace', () => {
  test.each<[object]>([
    [{ backendRefs: [{ group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'api' }] }],
    [{ backendRefs: [{ group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'api', namespace: 'shop' }] }],
    [{ backendRefs: [{ name: 'cart', port: 80, namespace: 'team' }] }],
  ])('%j is fine', (value) => {
    expect(remarks('backend-of-other-namespace', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { backendRefs: [{ group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'api', namespace: 'team' }] },
      [
        'spec.rules[0].backendRefs[0].namespace',
        'Invalid namespace "team": XBackend "api" must be in the namespace of the object that refers to it. Remove namespace, and create the XBackend in namespace "shop".',
      ],
    ],
    [
      {
        filters: [
          {
            type: 'RequestMirror',
            requestMirror: {
              backendRef: { group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'api', namespace: 'team' },
            },
          },
        ],
      },
      [
        'spec.rules[0].filters[0].requestMirror.backendRef.namespace',
        'Invalid namespace "team": XBackend "api" must be in the namespace of the object that refers to it. Remove namespace, and create the XBackend in namespace "shop".',
      ],
    ],
    [
      {
        backendRefs: [
          {
            name: 'cart',
            port: 80,
            filters: [
              {
                type: 'RequestMirror',
                requestMirror: {
                  backendRef: {
                    group: 'gateway.networking.x-k8s.io',
                    kind: 'XBackend',
                    name: 'api',
                    namespace: 'team',
                  },
                },
              },
            ],
          },
        ],
      },
      [
        'spec.rules[0].backendRefs[0].filters[0].requestMirror.backendRef.namespace',
        'Invalid namespace "team": XBackend "api" must be in the namespace of the object that refers to it. Remove namespace, and create the XBackend in namespace "shop".',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('backend-of-other-namespace', object(value))).toEqual(expected);
  });
});
