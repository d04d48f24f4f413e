import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (addresses: readonly object[]): unknown => soundGateway({}, { addresses });

describe('address-spelt-twice', () => {
  test.each<[readonly object[]]>([
    [
      [
        { type: 'IPAddress', value: '2001:db8::1' },
        { type: 'IPAddress', value: '2001:db8::2' },
      ],
    ],
    [[{ value: '2001:db8::1:0' }, { value: '2001:db8:1::' }]],
  ])('%j is fine', (value) => {
    expect(remarks('address-spelt-twice', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [
      [
        { type: 'IPAddress', value: '2001:db8::1' },
        { type: 'IPAddress', value: '2001:DB8:0:0::0001' },
      ],
      [
        'spec.addresses[1].value',
        'Duplicate address "2001:DB8:0:0::0001": addresses[0] is the same address, written "2001:db8::1". Remove one of them.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('address-spelt-twice', object(value))).toEqual(expected);
  });
});
