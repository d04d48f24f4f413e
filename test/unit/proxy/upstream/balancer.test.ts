import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Balancer } from '../../../../src/proxy/upstream/balancer.ts';

function shares(...weights: readonly number[]) {
  return weights.map((weight, value) => ({ value, weight }));
}

function take<T>(balancer: Balancer<T>, turns: number): (T | undefined)[] {
  return Array.from({ length: turns }, () => balancer.next());
}

describe('smooth weighted round robin', () => {
  test('spreads turns evenly', () => {
    expect(take(new Balancer(shares(5, 1, 1)), 7)).toEqual([0, 0, 1, 0, 2, 0, 0]);
  });

  test.each([
    ['no value', []],
    ['no weight', [0, 0]],
  ])('%s: nothing', (_name, weights) => {
    expect(new Balancer(shares(...weights)).next()).toBeUndefined();
  });

  test('every value comes as often as its weight says, in any run as long as their sum', () => {
    const weights = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.nat(50), (weights, skipped) => {
        const sum = weights.reduce((total, weight) => total + weight, 0);
        fc.pre(sum > 0);
        const balancer = new Balancer(shares(...weights));
        take(balancer, skipped);
        const counts = weights.map(() => 0);
        for (const value of take(balancer, sum)) counts[value ?? -1] = (counts[value ?? -1] ?? 0) + 1;
        expect(counts).toEqual(weights);
      }),
    );
  });

  test('goes on where one of the same weights stands, and anew after one of others', () => {
    const first = new Balancer(shares(3, 1));
    expect(take(first, 2)).toEqual([0, 0]);
    const anew = take(new Balancer(shares(1, 3)), 4);
    expect(take(new Balancer(shares(1, 3), first), 4)).toEqual(anew);
    expect(take(new Balancer(shares(3, 1, 1), first), 1)).toEqual([0]);
    expect(take(new Balancer(shares(3, 1), first), 2)).toEqual([1, 0]);
  });
});
