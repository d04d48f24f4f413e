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
    [{ type: 'IPAddress', routability: 'testing.x-k8s.io/other' }, [ 'spec.addresses[0].routability', 'testing.x-k8s.io is for tests, and knows no "testing.x-k8s.io/other", so no address is ever assigned. Write Cluster or a value of your implementation.' ]],
    [{ type: 'IPAddress', routability: 'example.com/my vpc' }, [ 'spec.addresses[0].routability', 'The routability "example.com/my vpc" holds white space, so no implementation knows it. Write it without, e.g. example.com/vpc.' ]],
    [{ type: 'Hostname', routability: 'Cluster' }, [ 'spec.addresses[0].routability', 'Whether a name leads to addresses of the cluster alone is for DNS to say, so routability: Cluster of type Hostname may never be satisfied. Write type: IPAddress.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('routability-unusual', object(value))).toEqual(expected);
  });
});
