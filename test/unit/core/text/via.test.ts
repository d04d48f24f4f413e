import { describe, expect, test } from '@jest/globals';
import { hopsIn, viaEntry } from '../../../../src/core/text/via.ts';

describe('hopsIn', () => {
  test.each([
    [undefined, 0],
    ['', 0],
    ['1.0 edge, 1.1 other (sally)', 0],
    ['1.1 sallyport', 1],
    ['1.1 sallyport, 2.0 edge, 1.1 sallyport', 2],
    ['1.1 sallyport (hop 5)', 5],
    ['1.1 sallyport, 1.1 sallyport (hop 7), 1.0 edge', 7],
    ['1.1 sallyport (hop 99999)', 1],
  ])('%p: %i', (via, hops) => {
    expect(hopsIn(via)).toBe(hops);
  });

  test('reads what viaEntry writes', () => {
    for (const hop of [1, 2, 8, 12]) expect(hopsIn(viaEntry('2.0', hop))).toBe(hop);
  });
});
