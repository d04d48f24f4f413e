import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('target-repeated', () => {
  const service = { group: '', kind: 'Service', name: 'cart' };
  const policyWith = (version: string, ...targetRefs: readonly object[]): unknown =>
    objectOf('BackendTLSPolicy', version, { targetRefs });

  test.each([
    [[service, { ...service, name: 'shop' }]],
    [
      [
        { ...service, sectionName: 'a' },
        { ...service, sectionName: 'b' },
      ],
    ],
    [[service, { ...service, group: 'example.com' }]],
  ])('%j is fine', (targets) => {
    expect(refusals('target-repeated', policyWith('v1', ...targets))).toEqual([]);
  });

  test.each([
    [[service, service]],
    [[service, { ...service, sectionName: 'a' }]],
    [
      [
        { ...service, sectionName: 'a' },
        { ...service, sectionName: 'a' },
      ],
    ],
  ])('%j', (targets) => {
    expect(refusals('target-repeated', policyWith('v1', ...targets))).toEqual([
      [
        'spec.targetRefs[1]',
        'Duplicate targetRef: targetRefs[0] also names Service "cart". Remove one of them, or use distinct sectionNames.',
      ],
    ]);
  });

  test('came later than the list', () => {
    expect(refusingBundles('target-repeated', policyWith('v1alpha3', service, service))).toEqual([
      'standard 1.4–1.7',
      'experimental 1.3–1.7',
    ]);
    expect(refusingBundles('target-repeated', policyWith('v1', service, service))).toEqual([
      'standard 1.4–1.7',
      'experimental 1.4–1.7',
    ]);
  });
});
