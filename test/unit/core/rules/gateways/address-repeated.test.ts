import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('address-repeated', () => {
  const gatewayWith = (...addresses: readonly object[]): unknown => objectOf('Gateway', 'v1', { addresses });

  test.each([
    [[{ value: '192.0.2.1' }, { value: '192.0.2.2' }]],
    [[{}, {}]],
    [
      [
        { type: 'NamedAddress', value: 'a' },
        { type: 'NamedAddress', value: 'a' },
      ],
    ],
    [[{ type: 'Hostname', value: '192.0.2.1' }, { value: '192.0.2.1' }]],
  ])('%j are fine', (addresses) => {
    expect(refusals('address-repeated', gatewayWith(...addresses))).toEqual([]);
  });

  test('names the first one', () => {
    expect(
      refusals(
        'address-repeated',
        gatewayWith(
          { value: '192.0.2.1' },
          { type: 'Hostname', value: 'a' },
          { type: 'IPAddress', value: '192.0.2.1' },
        ),
      ),
    ).toEqual([
      [
        'spec.addresses[2].value',
        'Duplicate address "192.0.2.1": addresses[0] has the same value. Remove one of them.',
      ],
    ]);
  });

  test('up to v1.3 an address without value cannot be compared', () => {
    expect(refusals('address-repeated', gatewayWith({}), { minor: '1.3', channel: 'standard' })).toEqual([
      [
        'spec.addresses[0].value',
        'Value is required in an address of type IPAddress in this bundle. Set a value, or remove addresses to get an address that the implementation chooses.',
      ],
    ]);
    expect(refusingBundles('address-repeated', gatewayWith({}))).toEqual(['standard 1.0–1.3', 'experimental 1.0–1.3']);
    expect(refusingBundles('address-repeated', gatewayWith({ value: 'a' }, { value: 'a' }))).toEqual([
      'standard 1.0–1.7',
      'experimental 1.0–1.7',
    ]);
  });
});
