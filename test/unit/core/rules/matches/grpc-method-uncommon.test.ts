import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (method: object): unknown =>
  objectOf('GRPCRoute', 'v1', {
    parentRefs: [{ name: 'front' }],
    rules: [{ matches: [{ method }], backendRefs: [{ name: 'cart', port: 80 }] }],
  });

describe('grpc-method-uncommon', () => {
  test.each<[object]>([
    [{ service: 'shop.v1.Cart', method: 'AddItem' }],
    [{ service: 'shop.v1.Cart' }],
    [{ type: 'RegularExpression', method: 'Add.*' }],
  ])('%j is fine', (value) => {
    expect(remarks('grpc-method-uncommon', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { method: 'AddItem' },
      [
        'spec.rules[0].matches[0].method.service',
        'The match names method "AddItem" without a service, which not every implementation supports. Set service, for example shop.v1.Cart.',
      ],
    ],
    [
      { service: '.shop.v1.Cart' },
      [
        'spec.rules[0].matches[0].method.service',
        'Invalid service ".shop.v1.Cart": no client calls a service that starts with a dot. Use "shop.v1.Cart".',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('grpc-method-uncommon', object(value))).toEqual(expected);
  });
});
