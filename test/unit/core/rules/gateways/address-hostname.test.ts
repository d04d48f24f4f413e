import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('address-hostname', () => {
  const gatewayWith = (...addresses: readonly object[]): unknown => objectOf('Gateway', 'v1', { addresses });

  test.each([
    [{ type: 'Hostname', value: '*.example.com' }],
    [{ type: 'Hostname' }],
    [{ type: 'NamedAddress', value: 'A B' }],
  ])('%j is fine', (address) => {
    expect(refusals('address-hostname', gatewayWith(address))).toEqual([]);
  });

  test.each(['A.example', '', 'a..b', 'a_b'])('%j is none', (value) => {
    expect(refusals('address-hostname', gatewayWith({ type: 'Hostname', value }))).toEqual([
      [
        'spec.addresses[0].value',
        `Invalid hostname "${value}": must be a DNS name in lower case, for example gateway.example.com. Correct it, or use another type of address.`,
      ],
    ]);
  });

  test('a value was needed up to v1.3', () => {
    expect(
      refusals('address-hostname', gatewayWith({ type: 'Hostname' }), { minor: '1.3', channel: 'standard' }),
    ).toEqual([
      [
        'spec.addresses[0].value',
        'Value is required in an address of type Hostname. Use a DNS name, for example gateway.example.com.',
      ],
    ]);
    expect(refusingBundles('address-hostname', gatewayWith({ type: 'Hostname' }))).toEqual([
      'standard 1.0–1.3',
      'experimental 1.0–1.3',
    ]);
    expect(refusingBundles('address-hostname', gatewayWith({ type: 'Hostname', value: 'A' }))).toEqual([
      'standard 1.0–1.7',
      'experimental 1.0–1.7',
    ]);
  });
});
