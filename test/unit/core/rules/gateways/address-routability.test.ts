import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('address-routability', () => {
  const gatewayWith = (...addresses: readonly object[]): unknown => objectOf('Gateway', 'v1', { addresses });

  test.each(['', 'Cluster', 'example.com/vpc', 'example.com/a/b', 'example.com//', 'k8s.io.example.com/a'])('%j is fine', (routability) => {
    expect(refusals('address-routability', gatewayWith({ routability }))).toEqual([]);
  });

  test.each([
    ['Private', 'it is neither Cluster nor a domain with a path'], ['cluster', 'it is neither Cluster nor a domain with a path'], ['example.com/', 'it is neither Cluster nor a domain with a path'],
    ['Example.com/a', 'it is neither Cluster nor a domain with a path'], ['/a', 'it is neither Cluster nor a domain with a path'], ['k8s.io/a', 'names of k8s.io are reserved'], ['a.k8s.io/a', 'names of k8s.io are reserved'],
  ])('%j is not', (routability, problem) => {
    expect(refusals('address-routability', gatewayWith({ routability }))).toEqual([
      ['spec.addresses[0].routability', `The routability "${routability}" is not known: ${problem}. Write Cluster, a value of your implementation such as example.com/vpc, or leave it out.`],
    ]);
  });

  test('is new', () => {
    expect(refusingBundles('address-routability', gatewayWith({ routability: 'Private' }))).toEqual(['experimental 1.7–1.7']);
  });
});
