import { describe, expect, test } from '@jest/globals';
import type { JudgedHostname } from '../../../../../src/core/graph/matches/hostname-policies.ts';
import {
  maxComparisonSteps,
  PathComparison,
  type OwnedPlace,
} from '../../../../../src/core/graph/matches/path-comparison.ts';
import type { RouteMatch } from '../../../../../src/core/graph/matches/route-match.ts';

const long = (name: string): string => `/${name.padStart(199, 'a')}`;
const paths = (of: string) => Array.from({ length: 64 }, (_one, index) => long(`${of}p${index}`));
const hostnames = Array.from({ length: 16 }, (_one, index) => `h${index}.example.com`);

function placeOf(hostname: string, owned: readonly string[]): OwnedPlace {
  const policies = ['cart'];
  const cart = { policies, isOfPaths: true, owners: [{ names: policies }] };
  const paths = new Map(owned.map((path) => [path, 0]));
  const judged: JudgedHostname = { hostname: { owned: hostname, paths, grants: [cart] }, verdicts: ['refused'] };
  return { key: owned.join(' '), covering: [judged], below: [], hostname };
}

const matches = Array.from({ length: 128 }, (_one, index): RouteMatch => ({
  index,
  path: { type: 'RegularExpression', value: long(`x${index}/.*`) },
  headers: [],
  query: [],
}));

/** Compares every match at every place. */
function compare(places: readonly OwnedPlace[]) {
  const comparison = new PathComparison();
  const refusals = places.flatMap((place) => matches.flatMap((match) => comparison.refusalOf(place, match) ?? []));
  return { steps: comparison.steps, refusals };
}

describe('the comparison of the matches of a route with owned paths', () => {
  test('compares an expression and a path once for all hostnames with equal owners', () => {
    const owned = paths('');
    const one = compare(hostnames.slice(0, 1).map((hostname) => placeOf(hostname, owned)));
    const all = compare(hostnames.map((hostname) => placeOf(hostname, owned)));
    expect(all).toEqual(one);
    expect(all.refusals).toEqual([]);
    // At most each character of each path, and a fixed cost.
    expect(all.steps).toBeLessThanOrEqual(128 * 64 * 220);
  });

  test('reads an expression and a path once for hostnames with different owners', () => {
    const owned = paths('');
    const { steps } = compare(
      hostnames.map((hostname, index) => placeOf(hostname, owned.slice(0, owned.length - index))),
    );
    expect(steps).toBeLessThanOrEqual(128 * 64 * (220 + 4 * 16));
  });

  test.each(['covering', 'below'] as const)('compares a path with few of many owned paths (%s)', (where) => {
    const ofMany = placeOf(
      '*',
      Array.from({ length: 10_000 }, (_one, index) => `/cart/${index}`),
    );
    const place = { ...ofMany, hostname: '*', covering: [], below: [], [where]: ofMany.covering };
    const comparison = new PathComparison();
    const refused = (['Exact', 'PathPrefix'] as const).flatMap((type) =>
      ['/cart/77/old', '/cart', '/cart/x/77'].map((value) =>
        comparison.refusalOf(place, { index: 0, path: { type, value }, headers: [], query: [] }),
      ),
    );
    expect(refused.map((one) => one?.refusal.path)).toEqual([
      '/cart/77',
      undefined,
      undefined,
      '/cart/77',
      undefined,
      undefined,
    ]);
    expect(comparison.steps).toBeLessThan(200);
  });

  test('stops at the limit, and then refuses', () => {
    const { steps, refusals } = compare(hostnames.map((hostname) => placeOf(hostname, paths(hostname))));
    // The last comparison begins below the limit.
    expect(steps).toBeLessThan(maxComparisonSteps + 220);
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals.every(({ isCompared }) => !isCompared)).toBe(true);
  });
});
