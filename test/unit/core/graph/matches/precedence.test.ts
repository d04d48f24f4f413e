import { describe, expect, test } from '@jest/globals';
import { sortKey } from '../../../../../src/core/graph/matches/precedence.ts';
import { routeMatch } from '../../../../support/routes.ts';

/** The sort key of a PathPrefix in the route `shop/<name>` of this year. */
function keyOf(name: string, year: number, prefix: string): string {
  const route = { key: `route/HTTPRoute/shop/${name}`, route: `shop/${name}`, created: `${year}-01-01T00:00:00Z` };
  return sortKey({ hostname: '', route, rule: 0, match: routeMatch({ path: { type: 'PathPrefix', value: prefix } }) });
}

describe('the order of path prefixes', () => {
  test('prefers the longer prefix to the older route', () => {
    expect(keyOf('new', 2026, '/abcd') < keyOf('old', 2020, '/abc')).toBe(true);
  });

  test.each([
    ['/abc', '/abc/'],
    ['/abc/', '/abc'],
  ])('counts no trailing slash: %s of the older route comes before %s', (older, newer) => {
    expect(keyOf('old', 2020, older) < keyOf('new', 2026, newer)).toBe(true);
  });
});
