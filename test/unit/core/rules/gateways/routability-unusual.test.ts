import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (address: object): unknown => soundGateway({}, { addresses: [address] });

describe('routability-unusual', () => {
  test.each<[object]>([
    [{ type: 'IPAddress', routability: 'Cluster' }],
    [{ type: 'IPAddress', routability: 'example.com/vpc' }],
    [{ type: 'IPAddress', routability: 'testing.x-k8s.io/sentinel' }],
  ])('%j is fine', (value) => {
    expect(remarks('routability-unusual', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { type: 'IPAddress', routability: 'testing.x-k8s.io/other' },
      [
        'spec.addresses[0].routability',
        'Unknown routability "testing.x-k8s.io/other": testing.x-k8s.io is reserved for tests, so no address is ever assigned. Use Cluster or a value of your implementation.',
      ],
    ],
    [
      { type: 'IPAddress', routability: 'example.com/my vpc' },
      [
        'spec.addresses[0].routability',
        'Invalid routability "example.com/my vpc": it contains white space. Use a value such as example.com/vpc.',
      ],
    ],
    [
      { type: 'Hostname', routability: 'Cluster' },
      [
        'spec.addresses[0].routability',
        'routability: Cluster conflicts with type Hostname: DNS decides which addresses a name has, so no implementation can ensure the routability. Use type: IPAddress.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('routability-unusual', object(value))).toEqual(expected);
  });
});
