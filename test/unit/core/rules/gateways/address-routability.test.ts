import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('address-routability', () => {
  const gatewayWith = (...addresses: readonly object[]): unknown => objectOf('Gateway', 'v1', { addresses });

  test.each(['', 'Cluster', 'example.com/vpc', 'example.com/a/b', 'example.com//', 'k8s.io.example.com/a'])(
    '%j is fine',
    (routability) => {
      expect(refusals('address-routability', gatewayWith({ routability }))).toEqual([]);
    },
  );

  test.each([
    ['Private', 'must be Cluster or a domain with a path'],
    ['cluster', 'must be Cluster or a domain with a path'],
    ['example.com/', 'must be Cluster or a domain with a path'],
    ['Example.com/a', 'must be Cluster or a domain with a path'],
    ['/a', 'must be Cluster or a domain with a path'],
    ['k8s.io/a', 'names in k8s.io are reserved'],
    ['a.k8s.io/a', 'names in k8s.io are reserved'],
  ])('%j is not', (routability, problem) => {
    expect(refusals('address-routability', gatewayWith({ routability }))).toEqual([
      [
        'spec.addresses[0].routability',
        `Invalid routability "${routability}": ${problem}. Use Cluster or a value of your implementation such as example.com/vpc, or remove it.`,
      ],
    ]);
  });

  test('is new', () => {
    expect(refusingBundles('address-routability', gatewayWith({ routability: 'Private' }))).toEqual([
      'experimental 1.7–1.7',
    ]);
  });
});
