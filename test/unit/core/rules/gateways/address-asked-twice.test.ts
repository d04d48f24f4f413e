import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (addresses: readonly object[]): unknown => soundGateway({}, { addresses });

describe('address-asked-twice', () => {
  test.each<[readonly object[]]>([
    [[{ type: 'IPAddress' }]],
    [[{ type: 'IPAddress' }, { type: 'Hostname' }]],
    [[{ type: 'IPAddress' }, { type: 'IPAddress', routability: 'Cluster' }]],
  ])('%j is fine', (value) => {
    expect(remarks('address-asked-twice', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [
      [{ type: 'IPAddress' }, { type: 'IPAddress' }],
      [
        'spec.addresses[1]',
        'Duplicate request for an address of type IPAddress: addresses[0] also has no value, so the Gateway requests two addresses. Remove this one unless you need both.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('address-asked-twice', object(value))).toEqual(expected);
  });
});
