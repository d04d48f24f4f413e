import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('mirror-share-repeated', () => {
  const routeWith = (requestMirror: object): unknown =>
    objectOf('HTTPRoute', 'v1', {
      rules: [
        {
          filters: [
            { type: 'RequestMirror', requestMirror: { backendRef: { name: 'cart', port: 80 }, ...requestMirror } },
          ],
        },
      ],
    });
  const path = 'spec.rules[0].filters[0].requestMirror';

  test.each([[{}], [{ percent: 0 }], [{ fraction: { numerator: 0 } }]])('%j is fine', (share) => {
    expect(refusals('mirror-share-repeated', routeWith(share))).toEqual([]);
  });

  test('says which two', () => {
    expect(refusals('mirror-share-repeated', routeWith({ percent: 0, fraction: { numerator: 1 } }))).toEqual([
      [
        `${path}.percent`,
        'percent conflicts with fraction: both set the share of requests to mirror. Remove one of them.',
      ],
    ]);
  });

  test('is as old as the fields', () => {
    expect(refusingBundles('mirror-share-repeated', routeWith({ percent: 0, fraction: { numerator: 1 } }))).toEqual([
      'standard 1.3–1.7',
      'experimental 1.2–1.7',
    ]);
  });
});
