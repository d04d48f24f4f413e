import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (spec: object): unknown => soundRoute({}, spec);

describe('hostname-repeated', () => {
  test.each<[object]>([
    [{ hostnames: [ 'shop.example.com', 'cart.example.com' ] }],
    [{ hostnames: [] }],
  ])('%j is fine', (value) => {
    expect(remarks('hostname-repeated', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ hostnames: [ 'shop.example.com', 'shop.example.com' ] }, [ 'spec.hostnames[1]', 'The hostname "shop.example.com" stands in hostnames[0] already. Remove this one, or write the name that was meant.' ]],
    [{ hostnames: [ 'a.example', 'b.example', 'a.example', 'a.example' ] }, [ 'spec.hostnames[2]', 'The hostname "a.example" stands in hostnames[0] already. Remove this one, or write the name that was meant.' ], [ 'spec.hostnames[3]', 'The hostname "a.example" stands in hostnames[0] already. Remove this one, or write the name that was meant.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('hostname-repeated', object(value))).toEqual(expected);
  });
});
