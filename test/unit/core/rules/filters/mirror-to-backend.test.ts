import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('mirror-to-backend', () => {
  test.each<[object]>([
    [{ filters: [{ type: 'RequestMirror', requestMirror: { backendRef: { name: 'cart-next', port: 80 } } }] }],
  ])('%j is fine', (value) => {
    expect(remarks('mirror-to-backend', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { filters: [{ type: 'RequestMirror', requestMirror: { backendRef: { name: 'cart', port: 80 } } }] },
      [
        'spec.rules[0].filters[0].requestMirror.backendRef',
        'Requests are mirrored to "cart", but backendRefs[0] forwards them to the same backend, so it gets them twice. Use another backend, or remove the mirror.',
      ],
    ],
    [
      {
        filters: [
          { type: 'RequestMirror', requestMirror: { backendRef: { name: 'cart', port: 80, namespace: 'shop' } } },
        ],
      },
      [
        'spec.rules[0].filters[0].requestMirror.backendRef',
        'Requests are mirrored to "cart", but backendRefs[0] forwards them to the same backend, so it gets them twice. Use another backend, or remove the mirror.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('mirror-to-backend', object(value))).toEqual(expected);
  });
});
