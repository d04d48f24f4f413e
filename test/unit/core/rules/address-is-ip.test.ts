import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../support/rules.ts';

const object = (address: object): unknown => soundGateway({}, { addresses: [address] });

describe('address-is-ip', () => {
  test.each<[object]>([
    [{ type: 'IPAddress', value: '192.0.2.1' }],
    [{ type: 'Hostname', value: 'front.example.com' }],
  ])('%j is fine', (value) => {
    expect(remarks('address-is-ip', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ type: 'Hostname', value: '192.0.2.1' }, [ 'spec.addresses[0].type', '"192.0.2.1" is an IP address, but the type is Hostname. Write type: IPAddress.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('address-is-ip', object(value))).toEqual(expected);
  });
});
