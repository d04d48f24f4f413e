import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (addresses: readonly object[]): unknown => soundGateway({}, { addresses });

describe('address-asked-twice', () => {
  test.each<[readonly object[]]>([
    [[ { type: 'IPAddress' } ]],
    [[ { type: 'IPAddress' }, { type: 'Hostname' } ]],
    [[ { type: 'IPAddress' }, { type: 'IPAddress', routability: 'Cluster' } ]],
  ])('%j is fine', (value) => {
    expect(remarks('address-asked-twice', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [[ { type: 'IPAddress' }, { type: 'IPAddress' } ], [ 'spec.addresses[1]', 'addresses[0] asks for any address of type IPAddress already, so this asks for a second one. Remove it unless two are meant.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('address-asked-twice', object(value))).toEqual(expected);
  });
});
