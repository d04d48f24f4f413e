import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown => objectOf('TLSRoute', 'v1alpha2', { parentRefs: [{ name: 'front' }], rules: [{ backendRefs: [{ name: 'a', port: 1 }] }], ...spec });

describe('server-names-missing', () => {
  test.each<[object]>([
    [{ hostnames: [ 'a.example' ] }],
  ])('%j is fine', (value) => {
    expect(remarks('server-names-missing', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{}, [ 'spec.hostnames', 'v1 of TLSRoute needs hostnames, so this route cannot be written as v1. Write hostnames with the names that clients ask for, e.g. shop.example.com.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('server-names-missing', object(value))).toEqual(expected);
  });
});
