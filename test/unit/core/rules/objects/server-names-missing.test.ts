import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown =>
  objectOf('TLSRoute', 'v1alpha2', {
    parentRefs: [{ name: 'front' }],
    rules: [{ backendRefs: [{ name: 'a', port: 1 }] }],
    ...spec,
  });

describe('server-names-missing', () => {
  test.each<[object]>([[{ hostnames: ['a.example'] }]])('%j is fine', (value) => {
    expect(remarks('server-names-missing', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {},
      [
        'spec.hostnames',
        'hostnames is required in v1 of TLSRoute, so the route cannot be converted to v1. Set hostnames to the server names that clients request, for example shop.example.com.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('server-names-missing', object(value))).toEqual(expected);
  });
});
